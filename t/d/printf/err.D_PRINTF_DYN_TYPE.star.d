/* A width that is not a number. */

BEGIN
{
	printf("%*d", "w", 1);
}
