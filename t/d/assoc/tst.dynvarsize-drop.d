/* The third element finds no room, and that is said. */
/* @opts: -q -x dynvarsize=40 */

BEGIN
{
	a[1] = 1;
	a[2] = 2;
	a[3] = 3;
	printf("%d %d %d\n", a[1], a[2], a[3]);
	exit(0);
}
