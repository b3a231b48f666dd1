/* Characters of a string: kept, compared, joined, as keys, and their sizeof. */
/* @opts: -q -x strsize=6 */
BEGIN
{
	s = "a long string";
	printf("%s %d %d\n", s, strlen(s), (int)sizeof (s));
	printf("%s %d\n", strjoin("1234", "5678"), s == "a long");
	a["a long key"] = 1;
	printf("%d\n", a["a long one"]);
	exit(0);
}
