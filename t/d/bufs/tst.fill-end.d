/* END alone needs more than there is: tracing does not begin. */
/* @opts: -q -x bufpolicy=fill -b 64 */
/* @status: 1 */

BEGIN
{
	exit(0);
}

END
{
	trace(1);
}

END
{
	trace(2);
}

END
{
	trace(3);
}
