/* As Pascal has it. */
BEGIN
{
	if (1)
		printf("x\n")
	else
		printf("y\n");
}
