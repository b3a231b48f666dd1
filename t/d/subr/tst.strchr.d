/* The rest of the string from the first, or the last, of that character. */
/* @opts: -q */

BEGIN
{
	printf("%s %s\n", strchr("/usr/lib/x", '/'), strrchr("/usr/lib/x", '/'));
	printf("%s %s\n", strchr("abcabc", 'b'), strrchr("abcabc", 'b'));
	printf("%d %d\n", strchr("abc", 'x') == NULL, strrchr("abc", 'x') == NULL);
	/* Characters, not ints. */
	printf("%s %s\n", strchr("abc", 'b' + 256), strrchr("abcb", 'b' + 256));
	exit(0);
}
