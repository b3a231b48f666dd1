/* An associative array keyed by strings, holding strings. */
/* @opts: -q */

BEGIN
{
	a["one"] = "eins";
	a["two"] = "zwei";
	printf("%s %s %d\n", a["one"], a["two"], a["three"] == "");
	exit(0);
}
