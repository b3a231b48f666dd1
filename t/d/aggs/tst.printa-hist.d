/* A histogram in a format. */
/* @opts: -q */

BEGIN
{
	@a["k"] = quantize(1);
	printa("key %s%@d", @a);
	exit(0);
}
