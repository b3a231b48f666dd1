/* A format with nothing in it. */

BEGIN
{
	printf("");
}
