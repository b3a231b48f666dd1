/* A control line that is not known. */

#frobnicate

BEGIN
{
	exit(0);
}
