/* What does not fit strsize characters is cut. */
/* @opts: -q -x strsize=6 */

BEGIN
{
	printf("%s\n", strjoin("", "1234567"));
	printf("%s\n", strjoin("1234567", ""));
	printf("%s\n", strjoin("abc", "1234567"));
	printf("%s\n", strjoin("1234567", "abc"));
	printf("%s\n", strjoin("abc", "123"));
	printf("%d %d\n", strlen("1234567"), "1234567" == "1234568");
	printf("%s %s\n", lltostr(-1234567), substr("abcdefghij", 1));
	exit(0);
}
