/* The remainder of a division by zero. */
/* @opts: -q */

BEGIN
{
	zero = 0;
}

BEGIN
{
	trace(1 % zero);
}

BEGIN
{
	exit(0);
}
