/* Keyed by a string: by value ascending, equals by key. */
/* @opts: -q */

BEGIN
{
	@a["b"] = sum(3);
	@a["c"] = sum(1);
	@a["a"] = sum(3);
	@a["d"] = sum(2);
	exit(0);
}
