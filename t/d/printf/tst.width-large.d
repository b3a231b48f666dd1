/* @opts: -q */
/* Widths beyond what fits in 16 bits. */

BEGIN
{
	printf("%70000d|%.70000d\n", 5, 6);
	exit(0);
}
