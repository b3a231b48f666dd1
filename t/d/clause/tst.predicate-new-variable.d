/* @opts: -q */
/* A predicate uses a variable that its own actions make. */

BEGIN
/fresh == 0/
{
	printf("%d\n", ++fresh);
}

BEGIN
/fresh == 1/
{
	exit(0);
}
