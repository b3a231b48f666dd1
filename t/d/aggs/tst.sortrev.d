/* Reverse order is that of the lines and that of the aggregations. */
/* @opts: -q -x aggsortrev */

BEGIN
{
	@first["small"] = sum(1);
	@first["large"] = sum(9);
	@second["large"] = sum(8);
	@second["small"] = sum(2);
	exit(0);
}
