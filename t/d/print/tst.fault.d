/* An address that leads nowhere is an error like any other. */
/* @opts: -q */

BEGIN
{
	print((int *)8);
}

BEGIN
{
	exit(0);
}
