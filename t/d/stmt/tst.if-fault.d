/*
 * After an error the rest of a clause is not done, whatever branch it is in.
 * Branches are counted as clauses.
 */
/* @opts: -q */

int zero;

BEGIN
{
	if (zero == 0)
		x = 1 / zero;
	printf("never\n");
}

BEGIN
{
	if (zero == 0)
		x = 5;
	else
		x = 1 / zero;
	printf("%d\n", x);
	exit(0);
}

ERROR
{
	printf("fault %d\n", (int)arg4);
}
