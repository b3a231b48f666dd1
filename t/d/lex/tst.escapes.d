/* Every escape of characters and strings; an unknown one is both characters. */
/* @opts: -q */

BEGIN
{
	printf("%d %d %d %d %d %d %d\n", '\a', '\b', '\t', '\n', '\v', '\f',
	    '\r');
	printf("%d %d %d %d %d\n", '\0', '\7', '\101', '\x41', '\xfe');
	printf("%d %d %d\n", '\\', '\"', '"');
	printf("%d %d\n", '\?', '\'');
	printf("%d %d %d\n", 'ab', 'abcd', (int)sizeof 'a');
	printf("%x\n", 'abcdefgh');
	s = "\a\b\t\n\v\f\r\101\x42\"\\";
	printf("%d %d %d %s\n", strlen(s), s[0], s[6], s + 7);
	printf("%d %s\n", strlen("\q"), "\q");
	exit(0);
}
