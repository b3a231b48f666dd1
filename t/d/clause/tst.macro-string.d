/* Arguments of the command as strings. */
/* @opts: -q */
/* @args: "two words" 12 */

BEGIN
{
	printf("%s|%s|%d\n", $$1, $$2, strlen($$1));
	exit(0);
}
