/* A string variable keeps strsize bytes, one of them for the end. */
/* @opts: -q -x strsize=8 */

BEGIN
{
	s = "abcdefghij";
	printf("%s %d %d\n", s, strlen(s), sizeof(s));
	exit(0);
}
