/* Keys of another type. */

BEGIN
{
	a[1] = 1;
	a["one"] = 1;
}
