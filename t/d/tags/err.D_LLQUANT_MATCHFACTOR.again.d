/* The same factor for one aggregation, */
BEGIN
{
	@a = llquantize(1, 10, 0, 6, 20);
	@a = llquantize(1, 2, 0, 6, 4);
}
