/* Base and limit have 32 bits. */
BEGIN
{
	@a = lquantize(1, 0, 9999999999, 1);
}
