/* Or cut. */
BEGIN
{
	trunc(@a);
}
