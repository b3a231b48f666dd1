/* nor after it has recorded something. */
BEGIN
{
	trace(1);
	speculate(1);
}
