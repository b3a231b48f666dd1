/* strsize counts characters wherever a string is kept; sizeof says strsize. */
/* @opts: -q -x strsize=4 */

self string s;

BEGIN
{
	g = "abcdefgh";
	this->l = "abcdefgh";
	self->s = "abcdefgh";
	a["abcdefgh"] = "abcdefgh";
	printf("%s %s %s %s\n", g, this->l, self->s, a["abcdefgh"]);
	printf("%s %s %d\n", substr("abcdefgh", 0), probeprov,
	    strlen("abcdefgh"));
	printf("%d %d\n", sizeof(g), sizeof(string));
	printf("%d %d\n", a["abcd"] == g, g == "abcdXXXX");
	@[g] = count();
	printa("%s\n", @);
	trace("abcdefgh");
	exit(0);
}
