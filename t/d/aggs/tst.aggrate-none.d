/*
 * printa() prints what is there when its record is read: the buffer is
 * small and read again and again, a few records each time.
 */
/* @opts: -q -x switchrate=1h -b 256 */

BEGIN
{
	n = 0;
}

tick-1ms
/n < 9/
{
	n++;
	@a = count();
	@b = sum(n);
	printa("%@d ", @a);
}

tick-1ms
/n == 9/
{
	clear(@b);
}

tick-1ms
/n == 9/
{
	exit(0);
}
