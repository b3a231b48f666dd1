/* A string as a number. */

BEGIN
{
	printf("%d", "one");
}
