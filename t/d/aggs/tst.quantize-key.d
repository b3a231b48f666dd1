/* Histograms with keys, the smallest weighted sum first. */
/* @opts: -q */

BEGIN
{
	@["big"] = quantize(1000);
	@["small"] = quantize(1);
	@["small"] = quantize(1);
	exit(0);
}
