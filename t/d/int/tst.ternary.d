/* The conditional operator groups to the right and binds loosely. */
/* @opts: -q */

BEGIN
{
	x = 5;
	printf("%d ", x > 3 ? 1 : 2);
	printf("%d ", x > 7 ? 1 : x > 4 ? 2 : 3);
	printf("%d ", 1 + (x == 5 ? 10 : 20));
	y = x < 0 ? -x : x;
	printf("%d\n", y);
	exit(0);
}
