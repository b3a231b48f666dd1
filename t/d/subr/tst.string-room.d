/* Every string has strsize characters; those behind its end are 0. */
/* @opts: -q */

BEGIN
{
	s = "ab";
	printf("%d\n", s[200]);
	printf("%d\n", substr("abc", 1)[200]);
	printf("%d\n", strjoin("abc", "d")[200]);
	printf("%d\n", execname[200]);
	printf("%d\n", basename("/a/b")[200]);
	exit(0);
}
