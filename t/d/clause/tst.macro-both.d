/* One argument, as a number and as text; and the name of the script. */
/* @opts: -q */
/* @args: 0x1234 */

BEGIN
{
	printf("%d %s %s\n", $1, $$1, $$0);
	exit(0);
}
