/* A tuple has eight keys at most. */
BEGIN
{
	a[1, 2, 3, 4, 5, 6, 7, 8, 9] = 1;
}
