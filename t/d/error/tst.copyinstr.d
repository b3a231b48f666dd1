/* A bad address in copyinstr(). */
/* @opts: -q */

BEGIN
{
	printf("%s", copyinstr(0));
}

BEGIN
{
	exit(0);
}
