/* What BEGIN and END know of themselves. */
/* @opts: -q */

BEGIN
{
	printf("%d %s [%s] [%s] %s\n", id, probeprov, probemod, probefunc,
	    probename);
	exit(0);
}

END
{
	printf("%d %s [%s] [%s] %s\n", id, probeprov, probemod, probefunc,
	    probename);
}
