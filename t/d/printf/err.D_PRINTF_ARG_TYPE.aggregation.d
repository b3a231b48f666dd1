/* An aggregation has no value for printf(). */

BEGIN
{
	@sum = sum(4);
	printf("%x", @sum);
}
