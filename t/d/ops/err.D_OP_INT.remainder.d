/* The remainder of a string. */

BEGIN
{
	trace("a" % 2);
}
