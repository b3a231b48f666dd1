/* A clause without actions prints the columns. */

BEGIN
{
}

BEGIN
{
	exit(0);
}
