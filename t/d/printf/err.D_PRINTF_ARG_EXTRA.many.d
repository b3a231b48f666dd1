/* An argument without a conversion. */

BEGIN
{
	printf("%d", 1, 2);
}
