/* trunc() takes entries away. */
/* @opts: -q */

BEGIN
{
	@a["k"] = sum(5);
	@b["k"] = sum(6);
	trunc(@a);
	exit(0);
}
