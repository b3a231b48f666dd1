/* An aggregation is no part of what is committed. */
BEGIN
{
	commit(1);
	@a = count();
}
