/* What is printed right after clear() is zero. */
/* @opts: -q */

BEGIN
{
	@a["k"] = sum(5);
	clear(@a);
	printa("%s %@d\n", @a);
	exit(0);
}
