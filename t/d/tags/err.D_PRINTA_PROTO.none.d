/* printa() prints an aggregation. */
BEGIN
{
	printa();
}
