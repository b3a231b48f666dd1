/*
 * Bit operations and shifts on variables; right shift keeps the sign of
 * a signed value.
 */
/* @opts: -q */

BEGIN
{
	a = 0xf0;
	b = 0x3c;
	printf("%x %x %x %x\n", a & b, a | b, a ^ b, a << 4);
	c = -16;
	printf("%d %d %d\n", c >> 2, ~a, ~c);
	exit(0);
}
