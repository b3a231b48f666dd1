/* The root of the mean of squares less the square of the mean, cut. */
/* @opts: -q */

BEGIN
{
	/* Mean 5, squares of differences 9 1 1 1 0 0 4 16: 32 / 8, 2. */
	@["two"] = stddev(2);
	@["two"] = stddev(4);
	@["two"] = stddev(4);
	@["two"] = stddev(4);
	@["two"] = stddev(5);
	@["two"] = stddev(5);
	@["two"] = stddev(7);
	@["two"] = stddev(9);
	@["one"] = stddev(12345);
	@["signs"] = stddev(-300);
	@["signs"] = stddev(300);
	/* Squares that 64 bits do not hold. */
	@["wide"] = stddev(-4000000000000);
	@["wide"] = stddev(4000000000000);
	/* 1.41..., of 1 and 2 and 3 and 4 and 5. */
	@["cut"] = stddev(1);
	@["cut"] = stddev(2);
	@["cut"] = stddev(3);
	@["cut"] = stddev(4);
	@["cut"] = stddev(5);
	printa("%s %@d\n", @);
	@none = stddev(7);
	clear(@none);
	printa("%@d\n", @none);
	exit(0);
}
