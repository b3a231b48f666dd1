/* @opts: -q -x pspec -Z */
int*x { printf("never\n"); }
BEGIN { exit(0); }
