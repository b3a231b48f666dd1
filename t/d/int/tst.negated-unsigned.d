/* A negated or complemented unsigned constant is an unsigned number of its own
 * width: it equals a wider variable that holds that number. */
/* @opts: -q */

BEGIN
{
	x = 4294967295;
	printf("%d %d %d %d\n", x == -1u, x != -1u, x == ~0u, x > -2u);
	exit(0);
}
