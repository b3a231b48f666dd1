/* @opts: -q -x bufsize=1t -x quietresize */
BEGIN { printf("runs\n"); exit(0); }
