/* @opts: -x strsize=32 */
/* Control lines may be indented, after empty lines, too. */


	#pragma D option quiet

BEGIN
{
	printf("indented\n");
	exit(0);
}
