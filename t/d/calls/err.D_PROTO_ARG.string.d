/* The length of a number. */

BEGIN
{
	trace(strlen(1));
}
