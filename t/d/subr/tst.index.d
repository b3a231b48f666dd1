/* Places from 0; the third argument is where the search begins. */
/* @opts: -q */

BEGIN
{
	printf("%d %d %d\n", index("a.b.c", "."), index("a.b.c", ".", 2),
	    index("a.b.c", ".", 4));
	printf("%d %d %d\n", rindex("a.b.c", "."), rindex("a.b.c", ".", 2),
	    rindex("a.b.c", ".", 0));
	printf("%d %d\n", index("foobarbaz", "ba", 4), rindex("foobarbaz", "ba", 5));
	printf("%d %d\n", index("abc", "x"), rindex("abc", "x"));
	/* Out of range is as far as it goes. */
	printf("%d %d %d\n", index("foo", "o", -3), index("foo", "f", 7),
	    rindex("foo", "o", 9));
	printf("%d %d\n", rindex("foo", "f", -1), index("foo", ""));
	exit(0);
}
