/* From a place, which may count from the end, and so may what is left out. */
/* @opts: -q */

BEGIN
{
	printf("%s %s %s\n", substr("foobar", 0), substr("foobar", 3),
	    substr("foobar", -3));
	printf("%s %s %s\n", substr("foobar", 2, 2), substr("foobar", 1, -1),
	    substr("foobar", -4, 2));
	printf("<%s> <%s> <%s>\n", substr("foobar", 6), substr("foobar", 2, 0),
	    substr("foobar", 3, -3));
	printf("<%s> %s\n", substr("foobar", 1, -9), substr("foobar", 4, 99));
	exit(0);
}
