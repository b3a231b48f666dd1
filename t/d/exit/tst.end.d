/* An exit() in END sets the status. */
/* @opts: -q */
/* @status: 5 */

BEGIN
{
	exit(1);
}

END
{
	exit(5);
}
