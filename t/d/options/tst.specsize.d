/* @opts: -q -x nspec=1 -x specsize=15 -x droptags */
BEGIN { s = speculation(); }
BEGIN { speculate(s); printf("too much\n"); }
BEGIN { commit(s); }
BEGIN { exit(0); }
