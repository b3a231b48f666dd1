/*
 * The weight of an llquantize() is the sum of where its values' bins begin: one
 * bin higher or lower, and these would change places.
 */
/* @opts: -q */

BEGIN
{
	/* 15 against 10; one bin up both have 18 and 20. */
	@up["more"] = llquantize(5, 10, 0, 1, 10, 3);
	@up["less"] = llquantize(16, 10, 0, 1, 10);
	/* 18 against 20; one bin down 15 and 10. */
	@down["more"] = llquantize(25, 10, 0, 1, 10);
	@down["less"] = llquantize(6, 10, 0, 1, 10, 3);
	/* The same below 0. */
	@minus["more"] = llquantize(-16, 10, 0, 1, 10);
	@minus["less"] = llquantize(-5, 10, 0, 1, 10, 3);
	@lower["more"] = llquantize(-6, 10, 0, 1, 10, 3);
	@lower["less"] = llquantize(-25, 10, 0, 1, 10);
	/* Above all bins: where they end, 100, against 90 and 9; 108 against it. */
	@end["more"] = llquantize(4000, 10, 0, 1, 10);
	@end["less"] = llquantize(99, 10, 0, 1, 10);
	@end["most"] = llquantize(9, 10, 0, 1, 10, 12);
	exit(0);
}
