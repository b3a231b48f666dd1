/* A function without its brackets. */
BEGIN
{
	@[jstack] = count();
}
