/*
 * Another normalize() takes the place of the first; denormalize() ends
 * it.
 */
/* @opts: -q */

BEGIN
{
	@a = sum(1000);
	@b = sum(1000);
	normalize(@a, 10);
	normalize(@a, 100);
	normalize(@b, 10);
	denormalize(@b);
	exit(0);
}
