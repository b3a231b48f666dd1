/* @opts: -q -x unwinder=check */
#pragma D option unwinder=libunwind
BEGIN
{
	ustack();
	exit(0);
}
