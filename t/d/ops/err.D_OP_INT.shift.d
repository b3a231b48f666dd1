/* A string cannot be shifted. */

BEGIN
{
	trace("a" << 2);
}
