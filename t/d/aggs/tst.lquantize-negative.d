/* A base below zero. */
/* @opts: -q */

BEGIN
{
	@ = lquantize(-100, -20, 20, 10);
	@ = lquantize(-15, -20, 20, 10);
	@ = lquantize(-1, -20, 20, 10);
	@ = lquantize(0, -20, 20, 10);
	exit(0);
}
