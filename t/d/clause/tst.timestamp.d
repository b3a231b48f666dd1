/* Time stands still within a firing, and does not go back. */
/* @opts: -q */

BEGIN
{
	a = timestamp;
	b = timestamp;
	w = walltimestamp;
	printf("%d %d %d ", a == b, a > 0, w == walltimestamp);
	/* after 2020 */
	printf("%d\n", w > 1577836800000000000);
}

tick-1ms
{
	printf("%d %d\n", timestamp > a, walltimestamp > w);
	exit(0);
}
