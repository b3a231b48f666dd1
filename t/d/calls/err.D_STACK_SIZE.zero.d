/* No frames. */

BEGIN
{
	stack(0);
}
