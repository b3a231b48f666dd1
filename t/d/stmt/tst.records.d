/* A clause with no statement records that it ran, and shows nothing else. */

BEGIN
{
}

BEGIN
{
	exit(0);
}
