/* Arguments of the command as integers, signs included. */
/* @opts: -q */
/* @args: 12 -- -7 */

BEGIN
{
	printf("%d %d\n", $1 + 1, $2);
	exit(0);
}
