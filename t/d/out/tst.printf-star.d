/* Width and precision from arguments. */
/* @opts: -q */

BEGIN
{
	printf("[%*d] [%-*d] [%.*s] [%*.*s]\n", 6, 42, 6, 42, 2, "abc", 5, 1,
	    "xyz");
	exit(0);
}
