/* What a clause had stored before its error stays. */
/* @opts: -q */

BEGIN
{
	zero = 0;
	x = 7;
	trace(1 / zero);
	x = 8;
}

BEGIN
{
	printf("%d\n", x);
	exit(0);
}
