/* Every level of precedence against its neighbour. */
/* @opts: -q */

BEGIN
{
	a = 2;
	b = 3;
	c = 4;
	printf("%d ", a + b * c);
	printf("%d ", (a + b) * c);
	printf("%d ", a << b + 1);
	printf("%d ", a < b << 1);
	printf("%d ", a == b < c);
	printf("%d ", 6 & 3 == 3);
	printf("%d ", 1 | 6 ^ 3 & 2);
	printf("%d ", 0 && 0 || 1);
	printf("%d ", 1 || 0 && 0);
	printf("%d ", 1 ^^ 1 || 1);
	printf("%d ", -a * -b);
	printf("%d ", !a == 0);
	printf("%d ", ~a + 1);
	printf("%d\n", a - b - c);
	exit(0);
}
