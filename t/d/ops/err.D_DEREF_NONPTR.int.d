/* An integer is not a pointer. */

BEGIN
{
	x = 1;
	trace(*x);
}
