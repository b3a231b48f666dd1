/* All six comparisons give 0 or 1. */
/* @opts: -q */

BEGIN
{
	a = 3;
	b = 4;
	printf("%d%d%d%d%d%d ", a < b, a <= b, a > b, a >= b, a == b, a != b);
	printf("%d%d%d%d%d%d ", b < a, b <= a, b > a, b >= a, b == a, b != a);
	printf("%d%d%d%d%d%d\n", a < 3, a <= 3, a > 3, a >= 3, a == 3, a != 3);
	exit(0);
}
