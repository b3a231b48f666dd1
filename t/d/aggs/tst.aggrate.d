/*
 * printa() prints what was read last, at most once in `aggrate': the buffer is
 * so small that it is read again and again, and still the numbers are those of
 * the first time.  clear() acts on everything.
 */
/* @opts: -q -x aggrate=1h -x switchrate=1h -b 256 */

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
