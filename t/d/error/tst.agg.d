/* An aggregation whose value cannot be computed is left alone. */
/* @opts: -q */

BEGIN
{
	zero = 0;
	@a = sum(5);
}

BEGIN
{
	@a = sum(1 / zero);
}

BEGIN
{
	exit(0);
}
