/* Strings are keys by what they hold. */
/* @opts: -q */

BEGIN
{
	a = "ab";
	b = strjoin("a", "b");
	x[a] = 5;
	printf("%d %d\n", x[b], x["a"]);
	exit(0);
}
