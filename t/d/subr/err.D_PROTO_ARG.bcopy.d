/* Copying is into scratch only, and this is known not to be. */
BEGIN
{
	bcopy("abc", (void *)16, 3);
}
