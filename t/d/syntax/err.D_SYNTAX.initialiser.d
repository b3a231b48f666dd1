/* Declarations take no value. */

int x = 1;

BEGIN
{
	exit(0);
}
