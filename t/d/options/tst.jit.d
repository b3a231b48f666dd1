/* @opts: -q -x fastpath=on -x jit=off */
BEGIN
{
	@["interpreted"] = count();
	exit(0);
}
