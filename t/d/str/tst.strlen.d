/* Lengths. */
/* @opts: -q */

BEGIN
{
	s = "hello";
	printf("%d %d %d\n", strlen(s), strlen(""), strlen("a b c"));
	exit(0);
}
