/*
 * trunc() with a number keeps the largest; with a negative one the
 * smallest.
 */
/* @opts: -q */

BEGIN
{
	@a["1"] = sum(1);
	@a["2"] = sum(2);
	@a["3"] = sum(3);
	@a["4"] = sum(4);
	@b["1"] = sum(1);
	@b["2"] = sum(2);
	@b["3"] = sum(3);
	@b["4"] = sum(4);
	trunc(@a, 2);
	trunc(@b, -1);
	exit(0);
}
