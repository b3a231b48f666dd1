/*
 * printa() prints, after a newline; what it has printed is not printed
 * at the end.
 */
/* @opts: -q */

BEGIN
{
	@a = count();
	@b = sum(5);
	printa(@a);
	exit(0);
}
