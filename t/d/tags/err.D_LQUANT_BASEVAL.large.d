/* Base and limit have 32 bits. */
BEGIN
{
	@a = lquantize(1, 9999999999, 10, 1);
}
