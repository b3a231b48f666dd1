/* A number where the format should be. */

BEGIN
{
	printf(12);
}
