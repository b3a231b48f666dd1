/* The rest of a string from the first place where another is. */
/* @opts: -q */

BEGIN
{
	printf("%s %s %s ", strstr("abcabc", "bc"), strstr("abc", "abc"),
	    strstr("abc", ""));
	printf("%d %d\n", strstr("abc", "x") == "", strstr("ab", "abc") == "");
	exit(0);
}
