/* @opts: -q -C -x incdir=t/d/options/lib */
#include <seven.h>
BEGIN { printf("%d\n", FROM_INCLUDE); exit(0); }
