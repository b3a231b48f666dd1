/* clear() sets values to zero and keeps keys. */
/* @opts: -q */

BEGIN
{
	@a["k"] = sum(5);
	clear(@a);
	exit(0);
}
