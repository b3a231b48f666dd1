/* A clause that does not end. */

BEGIN
{
	exit(0);
