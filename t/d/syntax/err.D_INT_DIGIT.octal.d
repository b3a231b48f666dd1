/* A digit that is not octal. */

BEGIN
{
	trace(089);
}
