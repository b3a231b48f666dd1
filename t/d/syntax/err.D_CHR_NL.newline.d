/* A character constant that does not end on its line. */

BEGIN
{
	trace('
');
}
