/* A step past the limit. */

BEGIN
{
	@ = lquantize(1, 0, 10, 100);
}
