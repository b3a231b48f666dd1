/* A string is two blanks and 33 columns. */

BEGIN
{
	trace("hello");
	trace(1);
	exit(0);
}
