/* An underscore is a name, and so is the aggregation without one. */
/* @opts: -q */

BEGIN
{
	_ = 5;
	_a1B = 6;
	@ = sum(7);
	@_ = sum(8);
	printf("%d %d\n", _, _a1B);
	printa("%@d\n", @);
	exit(0);
}
