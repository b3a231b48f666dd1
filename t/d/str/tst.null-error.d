/*
 * Printing a string never assigned is an error at address 0, and the
 * rest of the clause is not done.
 */
/* @opts: -q */

string s;

BEGIN
{
	printf("before\n");
	printf("%s", s);
	printf("after\n");
}

BEGIN
{
	exit(0);
}
