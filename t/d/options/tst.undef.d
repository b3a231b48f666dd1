/* @opts: -q -C -D GONE -x undef=GONE */
#ifndef GONE
BEGIN { printf("undefined\n"); exit(0); }
#endif
