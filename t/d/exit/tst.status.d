/* The argument of exit() is the status. */
/* @opts: -q */
/* @status: 3 */

BEGIN
{
	exit(3);
}
