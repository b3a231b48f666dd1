/* The default: nothing is lost where the buffer is read in time. */
/* @opts: -q -b 128 */

BEGIN
{
	i = 0;
}

tick-1ms
/i < 20/
{
	printf("%d ", i);
	i++;
}

tick-1ms
/i == 20/
{
	exit(0);
}
