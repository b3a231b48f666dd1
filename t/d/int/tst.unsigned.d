/*
 * Division, remainder, shift and comparison of unsigned values are
 * unsigned.
 */
/* @opts: -q */

BEGIN
{
	a = 0xfffffffffffffff0ULL;
	b = 16ULL;
	printf("%u %u %u %d\n", a / b, a % b, a >> 60, a > b);
	c = -16LL;
	printf("%d %d\n", c / 16, c < 16);
	exit(0);
}
