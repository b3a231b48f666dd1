/* printa() with a format: keys, then the value. */
/* @opts: -q */

BEGIN
{
	@a["x", 1] = sum(10);
	@a["y", 2] = sum(5);
	printa("%s/%d=%@d\n", @a);
	exit(0);
}
