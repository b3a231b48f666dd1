/* min() and max(), with signs; they print in the order of the program. */
/* @opts: -q */

BEGIN
{
	@lo = min(5);
	@hi = max(5);
	@lo = min(-7);
	@hi = max(-7);
	@lo = min(3);
	@hi = max(3);
	exit(0);
}
