/* An aggregation alone does nothing. */

BEGIN
{
	@a = count();
	@a;
}
