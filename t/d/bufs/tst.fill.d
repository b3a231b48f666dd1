/*
 * A buffer that has filled up takes nothing more, and tracing ends; what END
 * records, 24 bytes, has room of its own: of 128 bytes the records of 32 get
 * three.
 */
/* @opts: -q -x bufpolicy=fill -b 128 */

BEGIN
{
	i = 0;
}

tick-1ms
{
	trace(i);
	i++;
}

END
{
	printf(" end\n");
}
