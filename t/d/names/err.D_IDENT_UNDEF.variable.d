/* A variable that nobody assigns. */

BEGIN
{
	trace(nosuch);
}
