/* Nor of a speculation. */
BEGIN
{
	speculate(1);
	@a = count();
}
