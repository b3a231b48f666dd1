/* Too many arguments. */

BEGIN
{
	exit(1, 2);
}
