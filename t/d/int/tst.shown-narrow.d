/* printf() and trace() show what is computed from two narrow numbers as the wider
 * of them, which every DTrace does; what goes on with it has it whole. */
/* @opts: -q */

unsigned char uc;
char c;
short s;

BEGIN
{
	uc = 200;
	c = 100;
	s = 32767;
	printf("%d %d %d %d\n", uc + uc, c + c, c + uc, uc + s);
	printf("%d %d %d\n", uc + uc + uc, uc * uc & uc, (uc + uc) / 2);
	printf("%d %d %d\n", (int)(c + c), c + c + 0, -c + -c);
	printf("%d %d %d\n", uc << 1, ~uc, pid ? uc : c);
	@[uc + uc] = sum(c + c);
	printa("%d %@d\n", @);
	trace(c + c);
	exit(0);
}
