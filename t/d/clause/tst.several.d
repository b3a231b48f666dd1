/* One clause on several probes. */
/* @opts: -q */

BEGIN,
END
{
	printf("%s ", probename);
}

BEGIN
{
	exit(0);
}
