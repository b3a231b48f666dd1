/* Steps are a constant. */
BEGIN
{
	@a = llquantize(1, 10, 0, 6, pid);
}
