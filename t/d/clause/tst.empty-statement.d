/* Empty statements, and a last one without its semicolon. */
/* @opts: -q */

BEGIN
{
	;
	printf("a\n");;
	exit(0)
}
