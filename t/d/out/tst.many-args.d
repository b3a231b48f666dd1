/* Many arguments. */
/* @opts: -q */

BEGIN
{
	printf("%d%d%d%d%d%d%d%d%d%d%s%d%s%d\n", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
	    "-", 11, "-", 12);
	exit(0);
}
