/* A number and a string do not compare. */

BEGIN
{
	trace(1 == "one");
}
