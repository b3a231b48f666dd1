/* A record takes its values and 16 bytes of a speculation, as its time comes
 * when it is committed: 24 + 32, and 7 are left for the third. */
/* @opts: -q -x specsize=63 -x droptags */
BEGIN { s = speculation(); }
BEGIN { speculate(s); printf("%d\n", 1); }
BEGIN { speculate(s); printf("%d %d\n", 2, 3); }
BEGIN { speculate(s); printf("no room\n"); }
BEGIN { commit(s); }
BEGIN { exit(0); }
