/* In a predicate, too. */
/* @opts: -q -x iregs=5 */

int a, b;

BEGIN
/1 + (a + (2 + (b + (3 + (a + (4 + (b + 5))))))) == 15/
{
	printf("yes\n");
	exit(0);
}
