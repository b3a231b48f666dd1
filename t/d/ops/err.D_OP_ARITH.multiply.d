/* A string cannot be multiplied. */

BEGIN
{
	trace("a" * 2);
}
