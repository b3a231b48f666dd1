/*
 * The clause of exit() is finished; later BEGIN clauses do not run; END
 * does.
 */
/* @opts: -q */

BEGIN
{
	printf("1 ");
	exit(0);
	printf("2 ");
}

BEGIN
{
	printf("3 ");
}

END
{
	printf("4\n");
}
