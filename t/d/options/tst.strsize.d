/* @opts: -q -x strsize=6 */
BEGIN { s = "a long string"; printf("%s\n", s); exit(0); }
