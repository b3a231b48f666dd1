/*
 * Below 20 the twenty steps of the first order are less than 1 apart: bins
 * without an integer have no row, and the rows around the data are the next
 * that have one.
 */
/* @opts: -q */

BEGIN
{
	@a = llquantize(2, 10, 0, 1, 20);
	@a = llquantize(2, 10, 0, 1, 20);
	@b = llquantize(-9, 10, 0, 1, 20);
	@c = llquantize(8, 10, 0, 1, 20);
	@c = llquantize(12, 10, 0, 1, 20);
	exit(0);
}
