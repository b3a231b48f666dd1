/* @opts: -q -C -x cpphdrs -x incdir=t/d/options/lib */
#include <seven.h>
BEGIN { printf("%d\n", FROM_INCLUDE); exit(0); }
