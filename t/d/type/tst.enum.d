/* Enumerators are ints; a comparison with one finds it by its type. */
/* @opts: -q */

enum colour {
	RED,
	GREEN = 5,
	BLUE,
	LAST = BLUE << 1 | 1,
	NEGATIVE = -3
} c;

enum { ALONE = 9 };

BEGIN
{
	printf("%d %d %d %d %d %d\n", RED, GREEN, BLUE, LAST, NEGATIVE, ALONE);
	c = BLUE;
	printf("%d %d %d\n", c == BLUE, c == GREEN, c);
	printf("%d %d\n", (int)sizeof (enum colour), (int)sizeof (RED));
	exit(0);
}
