/* No process is traced: there is no variable of one. */
BEGIN
{
	trace(`counter);
}
