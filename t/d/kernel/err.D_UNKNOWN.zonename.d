/* There are no zones here. */

BEGIN
{
	trace(zonename);
	exit(0);
}
