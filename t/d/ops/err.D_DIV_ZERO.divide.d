/* A division by zero that can be seen. */

BEGIN
{
	trace(1 / 0);
}
