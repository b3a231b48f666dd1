/*
 * A key's bytes behind a short string are 0, whatever stood there before: the
 * same short key is found again after longer ones.
 */
/* @opts: -q */

BEGIN
{
	a["abcdefg"] = 1;
	a["ab"] = 2;
	a["xxxxxxx"] = 3;
	printf("%d %d %d\n", a["ab"], a["abcdefg"], a["xxxxxxx"]);
	a["abcdefg"] = 0;
	a["q"] = 4;
	a["ab"] = 0;
	a2["yyyyyyy", "zzzzzzz"] = 5;
	a2["y", "z"] = 6;
	a2["yyyyyy", "zzzzzz"] = 7;
	printf("%d %d %d\n", a2["y", "z"], a2["yyyyyyy", "zzzzzzz"], a["q"]);
	exit(0);
}
