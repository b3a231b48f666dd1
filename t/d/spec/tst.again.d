/* An id comes back when its speculation has ended, and not before. */
/* @opts: -q -x droptags */
BEGIN { a = speculation(); b = speculation(); }
BEGIN { commit(a); }
BEGIN { c = speculation(); }
BEGIN { discard(c); }
BEGIN { d = speculation(); e = speculation(); printf("%d %d %d %d %d\n", a, b, c, d, e); exit(0); }
