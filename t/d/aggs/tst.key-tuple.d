/* Keyed by several. */
/* @opts: -q */

BEGIN
{
	@a["x", 1] = sum(5);
	@a["x", 2] = sum(4);
	@a["y", 1] = sum(3);
	@a["x", 1] = sum(1);
	exit(0);
}
