/* A conditional may choose between strings. */
/* @opts: -q */

BEGIN
{
	x = 1;
	printf("%s %s\n", x ? "yes" : "no", x == 2 ? "two" : "other");
	exit(0);
}
