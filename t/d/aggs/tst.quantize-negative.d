/* Negative values and zero: labels are the bounds nearest to zero. */
/* @opts: -q */

BEGIN
{
	@ = quantize(-5);
	@ = quantize(-4);
	@ = quantize(-1);
	@ = quantize(0);
	@ = quantize(3);
	exit(0);
}
