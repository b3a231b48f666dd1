/* A variable of D has no address. */

BEGIN
{
	x = 1;
	trace(&x);
}
