/* Fewer registers, the same result. */
/* @opts: -q -x iregs=4 */
BEGIN { a = 1; b = 2; printf("%d\n", (a + b) * (a - b) + a * b); exit(0); }
