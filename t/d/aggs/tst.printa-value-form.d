/* Widths and bases of the value. */
/* @opts: -q */

BEGIN
{
	@a["k"] = sum(255);
	printa("[%5s] [%@8d]\n", @a);
	printa("%s %@x %@u\n", @a);
	exit(0);
}
