/* @opts: -q */
/* The value of an aggregation as a time. */

BEGIN
{
	@ = max(86400000000000LL);
	printa("%@Y\n%@T\n", @);
	exit(0);
}
