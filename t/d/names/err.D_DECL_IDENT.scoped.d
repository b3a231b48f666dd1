/* A type of an object that nobody has mapped. */
BEGIN
{
	trace(sizeof (struct libnone`conn));
}
