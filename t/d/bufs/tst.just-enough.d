/* Two records of 32 bytes. */
/* @opts: -q -b 64 */
/* @status: 3 */

BEGIN
{
	exit(3);
}
