/* An operand is a name, a type or text where it cannot be a number. */
/* @opts: -q */
/* @args: value short "two words" -- -0x10 +7 */

int value;

BEGIN
{
	value = 42;
	printf("%d %s\n", $1, $$1);
	printf("%d %s\n", (int)sizeof ($2), $$2);
	printf("%s %d\n", $3, strlen($3));
	printf("%d %s %d %s\n", $4, $$4, $5, $$5);
	printf("%d\n", ($2)70000);
	exit(0);
}
