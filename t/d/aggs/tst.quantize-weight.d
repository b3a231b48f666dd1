/*
 * A second argument is the weight; a negative one counts down, and bars
 * then grow to both sides.
 */
/* @opts: -q */

BEGIN
{
	@a = quantize(4, 30);
	@a = quantize(8, 10);
	@b = quantize(4, 3);
	@b = quantize(8, -1);
	exit(0);
}
