/* A text is no number. */
BEGIN
{
	printf("%d\n", execname);
}
