/* @opts: -q -C -x stdc=c */
#ifdef __STRICT_ANSI__
BEGIN { printf("strict\n"); exit(0); }
#endif
