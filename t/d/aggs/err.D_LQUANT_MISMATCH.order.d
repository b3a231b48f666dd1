/* The base lies below the limit. */

BEGIN
{
	@ = lquantize(1, 10, 0, 1);
}
