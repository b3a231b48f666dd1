/* Or normalised. */
BEGIN
{
	normalize(@a, 2);
}
