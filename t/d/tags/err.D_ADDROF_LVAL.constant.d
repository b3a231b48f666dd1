/* A constant has no address. */
BEGIN
{
	trace(&1);
}
