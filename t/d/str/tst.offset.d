/* A string and a number is the string from there on; it stays a string. */
/* @opts: -q -x strsize=8 */

BEGIN
{
	s = "abcdef";
	a[1] = "xyz";
	printf("%s %s %s\n", s + 2, 1 + a[1], (s + 4) - 1);
	printf("%d %d\n", strlen(s + 2), s + 3 == "def");
	exit(0);
}
