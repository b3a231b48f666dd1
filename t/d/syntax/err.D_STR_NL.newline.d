/* A string that does not end on its line. */

BEGIN
{
	printf("one
two");
}
