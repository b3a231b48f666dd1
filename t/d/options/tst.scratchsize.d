/* Room for two of three, and for three. */
/* @opts: -q -x scratchsize=16 */
BEGIN { n = 8; p = alloca(n); q = alloca(n); printf("two\n"); }
BEGIN { p = alloca(n); q = alloca(n); r = alloca(n); printf("never\n"); }
BEGIN { exit(0); }
ERROR { printf("%d\n", arg4 == DTRACEFLT_NOSCRATCH); }
