/* The base must be a constant. */

BEGIN
{
	x = 0;
	@ = lquantize(1, x, 10, 1);
}
