/*
 * A global keeps its value from clause to clause and from probe to
 * probe.
 */
/* @opts: -q */

BEGIN
{
	x = 1;
}

BEGIN
{
	x += 41;
	exit(0);
}

END
{
	printf("%d\n", x);
}
