/* A fault at run time has a line and a column, that of the expression in it. */
/* @opts: -q */
BEGIN
{
	zero = 0;
	printf("%d\n",
	    7 +
	    *(int *)zero);
}
BEGIN / 7 /
    zero > 1/
{
	exit(1);
}
BEGIN
{
	@[pid / zero] = sum(pid %
	    zero);
}
BEGIN { exit(0); }
