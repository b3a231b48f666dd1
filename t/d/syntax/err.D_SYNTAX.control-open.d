/* The last line of a script is whole, too. */
BEGIN
{
	exit(0);
}
#pragma D option quiet