/* Any expression will do. */
/* @opts: -q */
/* @status: 9 */

BEGIN
{
	x = 4;
	exit(x * 2 + 1);
}
