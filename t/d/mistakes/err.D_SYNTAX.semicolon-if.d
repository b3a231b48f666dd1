/* Before the brace, where it does not end a statement of the clause. */
BEGIN
{
	if (1)
		printf("x\n")
}
