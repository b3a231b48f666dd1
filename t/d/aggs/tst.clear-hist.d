/* A histogram that was cleared shows the three middle buckets. */
/* @opts: -q */

BEGIN
{
	@q["k"] = quantize(100);
	clear(@q);
	exit(0);
}
