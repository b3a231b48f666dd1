/* Many elements, put in and taken out again, cause no drop. */
/* @opts: -q */

BEGIN
{
	i = 0;
}

tick-1ms
/i < 30/
{
	a[i] = i + 1;
	a[i + 100] = 1;
	a[i + 100] = 0;
	total += a[i];
	i++;
}

tick-1ms
/i == 30/
{
	printf("%d %d %d\n", total, a[0], a[29]);
	exit(0);
}
