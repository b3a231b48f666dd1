/* An array is not assigned to. */
int a[4];

BEGIN
{
	a = 1;
}
