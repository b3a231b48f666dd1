/*
 * A clause that only computes, or only aggregates, records nothing and
 * prints nothing.
 */

BEGIN
{
	x = 1;
}

BEGIN
{
	@a = count();
}

BEGIN
{
	exit(x - 1);
}
