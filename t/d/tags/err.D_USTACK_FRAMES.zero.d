/* A stack has a frame. */
BEGIN
{
	ustack(0);
}
