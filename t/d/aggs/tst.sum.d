/* sum() adds, with signs. */
/* @opts: -q */

BEGIN
{
	@a = sum(10);
	@a = sum(-3);
	@a = sum(1000000000000);
	exit(0);
}
