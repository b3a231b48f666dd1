/* Strings and pointers where there is a choice; ^^ does both its sides. */
/* @opts: -q */

string unset;
char *p;

BEGIN
{
	n = 0;
	x = (n = n + 1) ^^ (n = n + 1);
	printf("%d %d\n", x, n);
	printf("%d %d %d %d\n", 2 ^^ 0, 0 ^^ 0, 2 ^^ 1, 0 ^^ 4);
	printf("%d %d\n", !p, p && 1);
	y = p ? 1 : 2;
	printf("%d %s\n", y, y == 2 ? "no" : "yes");
	printf("%d\n", (1, 2, 3));
	printf("%d %d\n", + 5 - - 5, ~ - 1);
	exit(0);
}
