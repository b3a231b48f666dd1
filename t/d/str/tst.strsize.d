/* A string variable keeps strsize characters, and its end beside them. */
/* @opts: -q -x strsize=8 */

BEGIN
{
	s = "abcdefghij";
	printf("%s %d %d\n", s, strlen(s), sizeof(s));
	exit(0);
}
