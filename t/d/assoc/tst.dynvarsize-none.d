/* Where not one element fits the program does not start. */
/* @opts: -q -x dynvarsize=10 */
/* @status: 1 */

BEGIN
{
	a[1] = 1;
	exit(0);
}
