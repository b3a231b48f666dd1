/* What is committed comes out in the order it went in, what is not does not. */
/* @opts: -q -x nspec=3 */
BEGIN { a = speculation(); b = speculation(); c = speculation(); }
BEGIN { speculate(a); printf("a1\n"); }
BEGIN { speculate(b); printf("b1\n"); }
BEGIN { speculate(a); printf("a2\n"); n++; }
BEGIN { speculate(c); printf("c1\n"); }
BEGIN { printf("ids %d %d %d, ran %d\n", a, b, c, n); }
BEGIN { discard(b); }
BEGIN { commit(b); }
BEGIN { commit(a); commit(a); discard(a); }
BEGIN { exit(0); }
