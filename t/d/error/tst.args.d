/* What the ERROR probe is told: probe, clause, fault, value. */
/* @opts: -q */

BEGIN
{
	zero = 0;
}

BEGIN
{
	trace(1 / zero);
}

BEGIN
{
	trace(*(int *)copyin(16, 4));
}

BEGIN
{
	exit(0);
}

ERROR
{
	printf("id %d clause %d fault %d\n", arg1, arg2, arg4);
}

ERROR
/arg4 == 1/
{
	printf("at %d\n", arg5);
}
