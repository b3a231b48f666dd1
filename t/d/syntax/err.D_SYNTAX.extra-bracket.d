/* A bracket too many. */
BEGIN
{
	x[1] = 2;
	trace(x[1]]);
}
