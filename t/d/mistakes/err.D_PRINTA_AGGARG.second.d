/* The format counts as an argument. */
BEGIN
{
	printa("%@d\n", 1);
}
