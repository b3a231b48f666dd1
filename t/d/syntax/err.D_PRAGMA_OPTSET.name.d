/* An option that is not known. */

#pragma D option frobnicate=1

BEGIN
{
	exit(0);
}
