/* No process is traced: nothing is local to its source. */
BEGIN
{
	trace(local`counter);
}
