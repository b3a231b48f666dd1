/* An aggregation is no branch of a condition. */
BEGIN
{
	@a = count();
	trace(pid ? @a : @a);
}
