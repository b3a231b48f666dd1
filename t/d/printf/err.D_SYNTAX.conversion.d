/* A conversion that is not known. */

BEGIN
{
	printf("%q", 1);
}
