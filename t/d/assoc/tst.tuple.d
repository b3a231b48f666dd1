/* Several keys of several types. */
/* @opts: -q */

BEGIN
{
	a["x", 1] = 1;
	a["x", 2] = 2;
	a["y", 1] = 3;
	a["y", 1]++;
	printf("%d %d %d %d\n", a["x", 1], a["x", 2], a["y", 1], a["y", 2]);
	exit(0);
}
