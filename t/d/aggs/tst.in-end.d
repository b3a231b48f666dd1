/* END prints before the end does. */
/* @opts: -q */

BEGIN
{
	@a = sum(3);
	@b = sum(4);
	exit(0);
}

END
{
	printf("end\n");
	printa("%@d\n", @b);
}
