/* A bad address in copyin(). */
/* @opts: -q */

BEGIN
{
	trace(*(int *)copyin(0, 4));
}

BEGIN
{
	exit(0);
}
