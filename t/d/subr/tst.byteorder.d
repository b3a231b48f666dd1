/* Headers that hold functions are no obstacle where they hold nothing else. */
/* @opts: -q -C */
#include <endian.h>

BEGIN
{
	printf("%d %x %x\n", __BYTE_ORDER == __LITTLE_ENDIAN, htons(0x0102),
	    htonl(0x01020304));
	exit(0);
}
