/* An aggregating function gives no value of its own. */
BEGIN
{
	count();
}
