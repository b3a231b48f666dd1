/* A clause that commits records nothing. */
BEGIN
{
	commit(1);
	trace(1);
}
