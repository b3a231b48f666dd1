/* A format that ends within a conversion. */

BEGIN
{
	printf("so far %-4", 1);
}
