/* Linear steps, and what lies below and above. */
/* @opts: -q */

BEGIN
{
	@ = lquantize(-1, 0, 30, 10);
	@ = lquantize(0, 0, 30, 10);
	@ = lquantize(9, 0, 30, 10);
	@ = lquantize(10, 0, 30, 10);
	@ = lquantize(29, 0, 30, 10);
	@ = lquantize(30, 0, 30, 10);
	@ = lquantize(1000, 0, 30, 10);
	@ = lquantize(15, 0, 30, 10);
	exit(0);
}
