/* Not a pointer. */

BEGIN
{
	print(8);
}
