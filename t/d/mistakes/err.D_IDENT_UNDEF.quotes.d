/* A text without its quotes. */
BEGIN
/execname == cat/
{
	exit(0);
}
