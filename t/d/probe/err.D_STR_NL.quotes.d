/* Quotes that nothing closes. */

dtrace:::"BEGIN
{
	exit(0);
}
