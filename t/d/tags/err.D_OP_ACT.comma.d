/* Nor one of a list of expressions. */
BEGIN
{
	trace(1), trace(2);
}
