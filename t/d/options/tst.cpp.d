/* @opts: -q -x cpp */
#define TWICE(x) ((x) + (x))
BEGIN { printf("%d\n", TWICE(4)); exit(0); }
