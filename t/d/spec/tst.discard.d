/* discard() may stand anywhere, and ends nothing but the speculation. */
/* @opts: -q */
BEGIN { s = speculation(); }
BEGIN { speculate(s); printf("not seen\n"); }
BEGIN { printf("before\n"); discard(s); printf("after\n"); @["seen"] = count(); }
BEGIN { exit(0); }
