/* The four operations and the remainder, with signs as in C. */
/* @opts: -q */

BEGIN
{
	a = 17;
	b = 5;
	printf("%d %d %d %d %d\n", a + b, a - b, a * b, a / b, a % b);
	printf("%d %d %d %d\n", -a / b, -a % b, a / -b, a % -b);
	exit(0);
}
