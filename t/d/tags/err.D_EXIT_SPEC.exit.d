/* The end cannot be undone. */
BEGIN
{
	speculate(1);
	exit(0);
}
