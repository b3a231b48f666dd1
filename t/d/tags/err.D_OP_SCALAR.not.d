/* Only what is zero or not can be negated. */
BEGIN
{
	trace(!"a");
}
