/* A remainder that can be seen. */

BEGIN
{
	trace(1 % 0);
}
