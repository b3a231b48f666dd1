/* @opts: -x vmname=web-01 -q */
BEGIN
{
	printf("%s\n", vmname);
	exit(0);
}
