/* printa() prints an aggregation. */
BEGIN
{
	printa("%d\n");
}
