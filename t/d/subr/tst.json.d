/* Members by name, elements by number, to any depth. */
/* @opts: -q */

string s;

BEGIN
{
	s = "{\"a\": {\"b\": [1, {\"c\": \"x\"}]}, \"n\": -1.5e3, \"t\": true}";
	printf("%s %s %s\n", json(s, "a.b[0]"), json(s, "a.b[1].c"),
	    json(s, "n"));
	printf("%s\n", json(s, "t"));
	printf("%d %d %d\n", json(s, "b") == NULL, json(s, "a.b[2]") == NULL,
	    json(s, "a.b.c") == NULL);
	printf("%d\n", strtoll(json(s, "a.b[0]")) + 1);
	exit(0);
}
