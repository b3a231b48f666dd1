/* Joining, also of what was joined. */
/* @opts: -q */

BEGIN
{
	s = strjoin("foo", "bar");
	printf("%s %s %s %d\n", s, strjoin(s, s), strjoin(strjoin("<", s), ">"),
	    strlen(strjoin("", "")));
	exit(0);
}
