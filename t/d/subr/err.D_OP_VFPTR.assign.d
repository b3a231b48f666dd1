/* How far is void? */
int x;

BEGIN
{
	x -= alloca(8);
}
