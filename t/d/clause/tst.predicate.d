/* A clause runs when its predicate is not zero. */
/* @opts: -q */

BEGIN
{
	x = 3;
}

BEGIN
/x == 3/
{
	printf("three ");
}

BEGIN
/x != 3/
{
	printf("not ");
}

BEGIN
/x > 1 && x < 5/
{
	printf("between\n");
	exit(0);
}
