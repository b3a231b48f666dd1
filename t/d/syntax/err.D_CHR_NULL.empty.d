/* A character constant with nothing in it. */

BEGIN
{
	trace('');
}
