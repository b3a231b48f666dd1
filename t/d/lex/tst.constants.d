/* The types of constants, by their base and suffix: size, and whether a
 * remainder of -1 is negative. */
/* @opts: -q */

BEGIN
{
	printf("%d %d %d %d\n", (int)sizeof 1u, (int)sizeof 1l, (int)sizeof 1ul,
	    (int)sizeof 1ULL);
	printf("%d %d %d\n", (int)sizeof 4294967295, (int)sizeof 0xffffffff,
	    (int)sizeof 037777777777);
	/* Unsigned as soon as it is hexadecimal and the sign bit is needed. */
	m = -1;
	printf("%d %d %d\n", m < 0x7fffffff, (int)m < 0xffffffff,
	    m < 2147483648);
	printf("%d %d\n", m < 0xffffffffffffffff, 0xffffffffffffffff > 0);
	printf("%d %d %d\n", 0, 00, 0x0);
	printf("%u %d\n", 18446744073709551615U, 9223372036854775807);
	exit(0);
}
