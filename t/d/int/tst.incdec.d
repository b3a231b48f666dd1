/* Before and after: ++ and --. */
/* @opts: -q */

BEGIN
{
	x = 5;
	printf("%d %d ", x++, x);
	printf("%d %d ", ++x, x);
	printf("%d %d ", x--, x);
	printf("%d %d\n", --x, x);
	exit(0);
}
