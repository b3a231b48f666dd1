/* A header of the C library, functions and all. */
/* @opts: -q -C */

#include <endian.h>

BEGIN
{
#if __BYTE_ORDER == __LITTLE_ENDIAN
	printf("%d %d\n", sizeof(__uint16_t), __LINE__);
#else
	printf("2 9\n");
#endif
	exit(0);
}
