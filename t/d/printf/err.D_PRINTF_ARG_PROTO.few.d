/* A conversion without an argument. */

BEGIN
{
	printf("%d %d", 1);
}
