/* What does not fit is dropped alone, and counted. */
/* @opts: -q -x specsize=64 -x droptags */
BEGIN { s = speculation(); }
BEGIN { speculate(s); printf("%d\n", 1); one = 1; }
BEGIN { speculate(s); printf("%s\n", "a string that is much longer than what is left"); two = 1; }
BEGIN { speculate(s); printf("%d\n", 3); three = 1; }
BEGIN { commit(s); }
BEGIN { printf("ran %d %d %d\n", one, two, three); exit(0); }
