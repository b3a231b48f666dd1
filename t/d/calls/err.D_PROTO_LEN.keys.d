/* Another number of keys. */

BEGIN
{
	a[1] = 1;
	a[1, 2] = 1;
}
