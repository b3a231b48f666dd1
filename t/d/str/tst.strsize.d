/* A string variable keeps strsize characters; its end is not one of them. */
/* @opts: -q -x strsize=8 */

BEGIN
{
	s = "abcdefghij";
	printf("%s %d %d\n", s, strlen(s), sizeof(s));
	exit(0);
}
