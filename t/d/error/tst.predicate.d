/* An error in a predicate: the clause does not run. */
/* @opts: -q */

int zero;

BEGIN
/1 / zero/
{
	printf("never");
}

BEGIN
{
	exit(0);
}
