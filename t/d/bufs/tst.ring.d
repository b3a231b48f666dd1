/* A ring keeps what came last: of twenty records of 32 bytes, four. */
/* @opts: -q -x bufpolicy=ring -b 128 */

BEGIN
{
	i = 0;
}

tick-1ms
/i < 20/
{
	trace(i);
	i++;
}

tick-1ms
/i == 20/
{
	exit(0);
}
