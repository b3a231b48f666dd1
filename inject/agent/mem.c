/*
 * Of the four functions that a compiler may call even in a freestanding program,
 * two; memcpy() and memset() are the machine's.
 * Compiled without the transformation that would turn each loop into a call to
 * the function it is in.
 */
#include "dlang/vm/port.h"

void *
memmove(void *dst, const void *src, size_t n)
{
	uint8_t *d = dst;
	const uint8_t *s = src;

	/* Forward is safe unless the destination begins inside the source. */
	if ((uintptr_t)d - (uintptr_t)s >= n)
		return memcpy(dst, src, n);
	while (n-- > 0)
		d[n] = s[n];
	return dst;
}

/* Of any memory, at any address. */
typedef uint64_t __attribute__((may_alias, aligned(1))) word;

/* Most often both are equal, and long: keys of aggregations. */
int
memcmp(const void *a, const void *b, size_t n)
{
	const uint8_t *p = a, *q = b;

	for (; n >= 8 && *(const word *)p == *(const word *)q; n -= 8) {
		p += 8;
		q += 8;
	}
	for (; n > 0; n--, p++, q++)
		if (*p != *q)
			return *p - *q;
	return 0;
}
