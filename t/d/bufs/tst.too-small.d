/* A buffer for less than two records could drop one although it is empty. */
/* @opts: -q -b 63 */
/* @status: 1 */

BEGIN
{
	exit(0);
}
