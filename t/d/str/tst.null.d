/* A string never assigned equals the empty string. */
/* @opts: -q */

string s;

BEGIN
{
	printf("%d %d\n", s == "", s == "x");
	exit(0);
}
