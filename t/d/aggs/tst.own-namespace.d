/* An aggregation and a variable may share a name. */
/* @opts: -q */

BEGIN
{
	a = 5;
	@a = sum(a);
	printf("%d\n", a);
	exit(0);
}
