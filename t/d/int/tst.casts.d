/* Casts cut and extend by the type they name. */
/* @opts: -q */

BEGIN
{
	x = 0x12345678;
	printf("%x %x ", (uint8_t)x, (uint16_t)x);
	y = 0x1ff;
	printf("%d %d ", (int8_t)y, (int16_t)0x18000);
	printf("%d %u\n", (int)0xffffffffULL, (uint32_t)-1);
	exit(0);
}
