/* Missing arguments are 0 and "" when asked for. */
/* @opts: -q -x defaultargs */

BEGIN
{
	printf("%d [%s]\n", $1, $$2);
	exit(0);
}
