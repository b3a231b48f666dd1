/* A number less a string is nothing. */
BEGIN
{
	trace(1 - execname);
}
