/* Strings compare by content, byte by byte. */
/* @opts: -q */

BEGIN
{
	s = "apple";
	t = "banana";
	printf("%d%d%d%d%d%d ", s < t, s <= t, s > t, s >= t, s == t, s != t);
	printf("%d%d ", s == "apple", s != "apple");
	printf("%d%d%d\n", "app" < s, "apples" > s, "" < s);
	exit(0);
}
