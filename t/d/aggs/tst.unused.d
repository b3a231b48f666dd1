/* An aggregation that no clause has filled prints nothing. */
/* @opts: -q */

BEGIN
/0/
{
	@a = count();
}

BEGIN
{
	exit(0);
}
