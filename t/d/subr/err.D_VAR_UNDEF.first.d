/* A first value must be one. */
BEGIN
{
	x += trace(0);
}
