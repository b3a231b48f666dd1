/* A predicate that ends before its parenthesis does. */
BEGIN
/(pid > 1/
{
	exit(0);
}
