/* A conversion for aggregations only. */

BEGIN
{
	@a = count();
	printf("%@d", 1);
}
