/* A character constant of nine characters. */

BEGIN
{
	trace('123456789');
}
