/* @opts: -q */
/* A star in a format of printa() takes a key. */

BEGIN
{
	@["x", 6, 42] = sum(3);
	printa("%s:%*d:%@d\n", @);
	printa("%s:%-*d:%@d\n", @);
	exit(0);
}
