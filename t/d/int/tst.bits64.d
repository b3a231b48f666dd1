/* Sixty-four bits are kept. */
/* @opts: -q */

BEGIN
{
	a = 1LL;
	b = 0xffffffffffffffffULL;
	printf("%x %d %u\n", a << 63, a << 62, b);
	printf("%x %x\n", b >> 60, (b >> 4) & 0xff00000000000000ULL);
	exit(0);
}
