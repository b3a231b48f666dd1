/* Powers of two. */
/* @opts: -q */

BEGIN
{
	@ = quantize(1);
	@ = quantize(2);
	@ = quantize(2);
	@ = quantize(9);
	exit(0);
}
