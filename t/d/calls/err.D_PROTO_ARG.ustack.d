/* A number of frames that is no number. */

BEGIN
{
	ustack("many");
}
