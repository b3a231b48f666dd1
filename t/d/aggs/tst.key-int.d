/* Keyed by integers of two sizes. */
/* @opts: -q */

BEGIN
{
	@a[7] = count();
	@b[7LL] = count();
	exit(0);
}
