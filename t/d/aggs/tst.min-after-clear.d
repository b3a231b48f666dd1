/* What was smallest and largest before clear() and trunc() is forgotten; a sum
 * of 0 after trunc() is a line.  What BEGIN records is read before anything else
 * fires. */
/* @opts: -q -x aggrate=1ns */
BEGIN
{
	@lo = min(1);
	@hi = max(9);
	@s["k"] = sum(1);
	@n["k"] = min(1);
	printa("lo %@d hi %@d\n", @lo, @hi);
	clear(@lo);
	clear(@hi);
	trunc(@s);
	trunc(@n);
}
tick-1ms { exit(0); }
END
{
	@lo = min(5);
	@hi = max(5);
	@s["k"] = sum(0);
	@n["k"] = min(7);
	printa("lo %@d hi %@d\n", @lo, @hi);
	printa("%s %@d\n", @s);
	printa("%s %@d\n", @n);
}
