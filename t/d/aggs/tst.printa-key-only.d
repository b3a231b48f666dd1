/* A format need not show everything. */
/* @opts: -q */

BEGIN
{
	@a["one"] = count();
	printa("only %s\n", @a);
	exit(0);
}
