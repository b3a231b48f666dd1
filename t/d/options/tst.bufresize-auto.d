/* @opts: -q -x bufsize=1t -x bufresize=auto */
BEGIN { printf("runs\n"); exit(0); }
