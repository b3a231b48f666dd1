/* A number as a string. */

BEGIN
{
	printf("%s", 1);
}
