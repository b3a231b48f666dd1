/* An aggregation is assigned by its functions only. */

BEGIN
{
	@a = 1;
}
