/* Negative sums come first. */
/* @opts: -q */

BEGIN
{
	@a["plus"] = sum(1);
	@a["minus"] = sum(-1);
	@a["zero"] = sum(0);
	exit(0);
}
