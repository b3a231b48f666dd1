/* Nothing is nothing to print. */
BEGIN
{
	print(exit(1));
}
