/* A semicolon is missing. */
BEGIN
{
	a = 1
	b = 2;
}
