/* A number is no text. */
BEGIN
{
	printf("%s\n", pid);
}
