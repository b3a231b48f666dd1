/* Only an aggregation that there is can be cleared. */
BEGIN
{
	clear(@a);
}
