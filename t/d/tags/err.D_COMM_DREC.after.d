/* What is recorded is recorded. */
BEGIN
{
	trace(1);
	commit(1);
}
