/* A tick of no length. */

tick-0
{
	exit(0);
}
