/* The comma operator: left to right, the value of the last. */
/* @opts: -q */

BEGIN
{
	x = (a = 2, a * 10);
	printf("%d %d\n", a, x);
	exit(0);
}
