/* Conversions of strings. */
/* @opts: -q */

BEGIN
{
	s = "abcdef";
	printf("[%s] [%10s] [%-10s] [%.3s] [%8.2s]\n", s, s, s, s, s);
	printf("100%% [%s]\n", "");
	exit(0);
}
