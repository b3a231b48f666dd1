/* A slash in a predicate divides unless it ends it. */
/* @opts: -q */

BEGIN
{
	x = 12;
}

BEGIN
/x / 4 == 3/
{
	printf("yes\n");
	exit(0);
}
