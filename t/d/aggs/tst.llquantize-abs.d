/*
 * What is nearer to 0 than the lowest order has one bin for both signs, and
 * says so where there is a row for what is below.
 */
/* @opts: -q */

BEGIN
{
	@a = llquantize(3, 3, 3, 4, 27);
	@b = llquantize(30, 3, 3, 4, 27);
	@c = llquantize(-30, 3, 3, 4, 27);
	exit(0);
}
