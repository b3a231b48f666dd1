/* Declared globals are zero before the first assignment. */
/* @opts: -q */

int x;
uint64_t y;

BEGIN
{
	printf("%d %d\n", x, y);
	exit(0);
}
