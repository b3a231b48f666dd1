/* Several printf() of one clause follow one another. */
/* @opts: -q */

BEGIN
{
	printf("a");
	printf("b%d", 1);
	printf("c\n");
	exit(0);
}
