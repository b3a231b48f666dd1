/* A width without its argument. */

BEGIN
{
	printf("%*d");
}
