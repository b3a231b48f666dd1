/* Keys and values may be expressions. */
/* @opts: -q */

BEGIN
{
	x = 10;
	@a[x / 3, strjoin("k", "ey")] = sum(x * 2);
	exit(0);
}
