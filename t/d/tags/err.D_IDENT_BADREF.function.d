/* A function is no variable. */
BEGIN
{
	trace(printf);
}
