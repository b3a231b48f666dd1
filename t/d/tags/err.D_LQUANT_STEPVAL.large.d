/* The step has 16. */
BEGIN
{
	@a = lquantize(1, 0, 10, 65536);
}
