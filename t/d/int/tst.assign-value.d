/*
 * An assignment has the value that was assigned, and groups to the
 * right.
 */
/* @opts: -q */

BEGIN
{
	a = b = c = 9;
	printf("%d %d %d ", a, b, c);
	printf("%d %d\n", (a = 4) + 1, a);
	exit(0);
}
