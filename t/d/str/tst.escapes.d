/* Escape sequences in strings. */
/* @opts: -q */

BEGIN
{
	printf("a\tb\\c\"d\x41\102\n");
	s = "x\ty";
	printf("%s %d\n", s, strlen(s));
	exit(0);
}
