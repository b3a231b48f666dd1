/* @opts: -q */
/* A precision of 0 is none, whether written or given. */

BEGIN
{
	printf("[%.0s] [%.*s] [%4.0d] [%.2s]\n", "word", 0, "word", 7, "word");
	exit(0);
}
