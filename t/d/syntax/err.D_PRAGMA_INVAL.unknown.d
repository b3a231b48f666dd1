/* A pragma that is not known. */

#pragma D frobnicate

BEGIN
{
	exit(0);
}
