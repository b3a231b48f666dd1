/* An error at run time does not change the status. */
/* @opts: -q */

BEGIN
{
	zero = 0;
	trace(1 / zero);
}

BEGIN
{
	exit(0);
}
