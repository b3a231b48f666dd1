/*
 * Histograms are in order of their weight, where what is below the base counts
 * as one less than the base and what is above the limit as one more; of equal
 * ones that is first which has counted 0 less often.
 */
/* @opts: -q */

BEGIN
{
	@low["three"] = lquantize(0, 1, 9, 2, 3);
	@low["one"] = lquantize(0, 1, 9, 2);
	@low["two"] = lquantize(0, 1, 9, 2, 2);
	@high["three"] = lquantize(0, -9, -1, 2, 3);
	@high["one"] = lquantize(0, -9, -1, 2);
	@high["two"] = lquantize(0, -9, -1, 2, 2);
	@far["one"] = lquantize(100, -9, -5, 2);
	@far["two"] = lquantize(100, -9, -5, 2, 2);
	@log["two"] = llquantize(0, 10, 0, 1, 10, 2);
	@log["minus"] = llquantize(0, 10, 0, 1, 10, -1);
	@log["one"] = llquantize(0, 10, 0, 1, 10);
	exit(0);
}
