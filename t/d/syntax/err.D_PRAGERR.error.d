/* A control line that says no. */

#error not today

BEGIN
{
	exit(0);
}
