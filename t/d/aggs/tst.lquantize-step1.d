/* The step is 1 when it is not given; only the part in use is shown. */
/* @opts: -q */

BEGIN
{
	@ = lquantize(50, 0, 100);
	@ = lquantize(51, 0, 100);
	@ = lquantize(51, 0, 100);
	@ = lquantize(51, 0, 100);
	exit(0);
}
