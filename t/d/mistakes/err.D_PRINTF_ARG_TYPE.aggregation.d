/* An aggregation is no value. */
BEGIN
{
	@calls[execname] = count();
	printf("%d\n", @calls);
}
