/*
 * Declared variables hold as many bits as their type has, and extend
 * them by its sign.
 */
/* @opts: -q */

int8_t i8;
uint8_t u8;
int16_t i16;
uint32_t u32;

BEGIN
{
	i8 = 200;
	u8 = 300;
	i16 = 40000;
	u32 = -1;
	printf("%d %d %d %u\n", i8, u8, i16, u32);
	exit(0);
}
