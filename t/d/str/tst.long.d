/* Long strings, up to the default size of 256. */
/* @opts: -q */

BEGIN
{
	s = "0123456789";
	s = strjoin(s, s);
	s = strjoin(s, s);
	s = strjoin(s, s);
	printf("%d %s\n", strlen(s), s);
	s = strjoin(s, s);
	printf("%d\n", strlen(s));
	exit(0);
}
