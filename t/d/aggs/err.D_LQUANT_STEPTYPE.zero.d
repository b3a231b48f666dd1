/* A step of nothing. */

BEGIN
{
	@ = lquantize(1, 0, 10, 0);
}
