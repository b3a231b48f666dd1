/* One that there is. */
BEGIN
{
	printa(@a);
}
