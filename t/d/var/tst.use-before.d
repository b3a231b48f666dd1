/*
 * A variable may be used in a clause before the one that assigns it; it
 * is 0 there.
 */
/* @opts: -q */

int seen;

BEGIN
/seen == 0/
{
	printf("first\n");
}

BEGIN
{
	seen = 1;
	exit(0);
}
