/* An argument that nobody reads. */
/* @args: 1 */

BEGIN
{
	exit(0);
}
