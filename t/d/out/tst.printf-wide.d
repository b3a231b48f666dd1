/* The size of an argument chooses, not the conversion: no l is needed. */
/* @opts: -q */

BEGIN
{
	a = -1LL;
	b = 0xffffffffffffffffULL;
	c = -1;
	printf("%d %u %x %x\n", a, b, a, c);
	printf("%lld %llx %ld\n", 1LL, 255LL, 7L);
	exit(0);
}
