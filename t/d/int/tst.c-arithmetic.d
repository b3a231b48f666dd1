/* Numbers are computed as C computes them.  ../../expr compares the two on more;
 * here are the cases that other DTraces have otherwise. */
/* @opts: -q */

uint8_t u8;
int8_t i8;
uint16_t u16;
uint32_t u32;
_Bool b;
struct {
	int i : 3;
	unsigned int u : 5;
} bits;

BEGIN
{
	/* 32 unsigned bits wrap, early and late. */
	u32 = 4294967295U;
	printf("%d %d\n", 4294967295U + 1U == 0, u32 + 1 == 0);
	printf("%d %d\n", u32 * 2 >> 1 == 0x7fffffff, 0 - u32);
	printf("%d %d\n", u32 + 1 ? 1 : 0, (long)(u32 << 1) >> 32);
	/* What is narrower than int becomes one. */
	u8 = 255;
	i8 = -1;
	u16 = 0;
	printf("%d %d %d\n", ~(unsigned short)0, ~u16, -u8);
	printf("%d %d %d\n", u8 == i8, u8 > i8, u8 << 4);
	printf("%d %d\n", (int64_t)(u8 + u8), (uint64_t)(u8 - 256) == -1);
	printf("%d %d %d\n", sizeof (-(int8_t)1), sizeof (u8 + u8),
	    sizeof (u8 << 1L));
	total = u8 + u8;
	printf("%d %d\n", sizeof (total), total);
	/* Both sides of ?: give the type, whichever is chosen. */
	printf("%d %d\n", (1 ? -1 : 1U) > 0, (int64_t)(0 ? u32 : i8));
	printf("%d %d\n", sizeof (1 ? i8 : u8), sizeof (0 ? 1LL : 2));
	/* A character is a char. */
	i8 = '\377';
	printf("%d %d %d\n", '\377', i8 == '\377', sizeof '\377');
	/* A u makes unsigned types only. */
	printf("%d\n", (0x100000000u - 0x100000001u) > 0);
	/* Anything but 0 is true. */
	b = 256;
	printf("%d %d %d\n", b, (_Bool)u8, (_Bool)2 + 1);
	b += 5;
	printf("%d\n", b);
	/* An assignment is worth what its variable has then. */
	printf("%d %d", bits.i = 9, ++bits.i);
	printf(" %d %d\n", bits.u = -1, bits.u - 32);
	exit(0);
}
