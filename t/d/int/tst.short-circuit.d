/*
 * The right side of && and || and the other arm of ?: are not evaluated:
 * a division by zero there is no error.
 */
/* @opts: -q */

BEGIN
{
	zero = 0;
	printf("%d %d %d %d\n", zero && 1 / zero, 1 || 1 / zero,
	    zero ? 1 / zero : 5, zero == 0 ? 6 : 1 / zero);
	exit(0);
}
