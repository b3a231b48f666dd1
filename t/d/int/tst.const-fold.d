/* The same with constants only: what is folded is not different. */
/* @opts: -q */

BEGIN
{
	printf("%d %d %d %d %d\n", 17 + 5, 17 - 5, 17 * 5, 17 / 5, 17 % 5);
	printf("%d %d %d %d\n", -17 / 5, -17 % 5, 17 / -5, 17 % -5);
	printf("%d %d %d\n", 1 << 10, 1024 >> 3, ~0);
	exit(0);
}
