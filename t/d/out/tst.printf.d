/* What printf() writes follows the columns; the line is ended for it. */

BEGIN
{
	printf("one %d", 1);
}

BEGIN
{
	printf("two\n");
	exit(0);
}
