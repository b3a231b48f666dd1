/* A name is bound to a version, which is the one asked for. */
/* @opts: -q -x version=1.4 */
inline int x = 4;
#pragma D binding "1.4" x
BEGIN { printf("%d\n", x); exit(0); }
