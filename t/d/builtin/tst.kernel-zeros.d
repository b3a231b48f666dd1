/*
 * What only a kernel could tell is 0.
 * @opts: -q
 */

BEGIN
{
	printf("%d %d %d\n", ipl, stackdepth, caller);
	exit(0);
}
