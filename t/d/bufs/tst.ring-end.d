/* END's records are the last, so a ring has them all and less of the rest. */
/* @opts: -q -x bufpolicy=ring -b 128 */

BEGIN
{
	i = 0;
}

tick-1ms
/i < 9/
{
	trace(i);
	i++;
}

tick-1ms
/i == 9/
{
	exit(0);
}

END
{
	printf(" one");
}

END
{
	printf(" two\n");
}
