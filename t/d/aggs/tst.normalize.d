/* normalize() divides what is shown. */
/* @opts: -q */

BEGIN
{
	@a["x"] = sum(1000);
	@a["y"] = sum(1999);
	normalize(@a, 1000);
	exit(0);
}
