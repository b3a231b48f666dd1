/* A line for each clause that fired, END last. */

END
{
	trace("last");
}

BEGIN
{
	x = 1;
	trace(x);
}

BEGIN
/x == 0/
{
	trace("never");
}

BEGIN
{
	trace("second");
	exit(0);
}
