/*
 * immstack() is the stack of the process; in BEGIN there is none.
 * @opts: -q
 */
BEGIN
{
	@[immstack(2)] = count();
	exit(0);
}
