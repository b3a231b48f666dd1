/*
 * BEGIN is nobody's code: it has no caller, no stack and no registers.
 */
/* @opts: -q */

BEGIN
{
	printf("%d %d %d %d\n", ustackdepth, ucaller, regs[0], uregs[R_RIP]);
	ustack();
	jstack();
	stack();
	exit(0);
}
