/* The high one is not below the low one. */
BEGIN
{
	@a = llquantize(1, 10, 4, 3, 20);
}
