/* A string variable is a copy. */
/* @opts: -q */

BEGIN
{
	s = "first";
	t = s;
	s = "second";
	printf("%s %s\n", s, t);
	exit(0);
}
