/* One argument, a number of frames. */

BEGIN
{
	stack(1, 2);
}
