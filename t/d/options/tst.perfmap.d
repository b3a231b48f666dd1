/* @opts: -q -x perfmap */
/* Without a process there is nothing to be written. */
BEGIN
{
	trace("begins");
	exit(0);
}
