/*
 * The kernel's stack, of which a user process shows nothing, is empty: as a key
 * there is one of them.
 */
/* @opts: -q */

BEGIN
{
	@a[stack()] = count();
	@a[stack(3)] = count();
	@b[ustack(), "x"] = sum(2);
	printa(@a);
	printa("%k|%@d\n", @a);
	printa("%20k|%s|%@d\n", @b);
	trace(stack());
	exit(0);
}
