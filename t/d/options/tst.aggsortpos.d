/* @opts: -q -x aggsortpos=1 */
BEGIN { @x["a"] = sum(1); @x["b"] = sum(2); @y["a"] = sum(9); @y["b"] = sum(3); printa("%s %@d %@d\n", @x, @y); exit(0); }
