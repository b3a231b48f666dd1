/*
 * memcpy() and memset() of the agent: inject/agent/mem.c has the other two.
 */
#include "dlang/vm/port.h"

/* Of any memory, at any address. */
typedef uint64_t __attribute__((may_alias, aligned(1))) word;

/* What is longer is left to one instruction, which is fast on everything since 2013
 * (ERMS), but takes long to begin. */
#define SHORT_COPY 64
#define SHORT_SET  512

static void
copy_short(uint8_t *d, const uint8_t *s, size_t n)
{
	for (; n >= 8; n -= 8) {
		*(word *)d = *(const word *)s;
		d += 8;
		s += 8;
	}
	while (n-- > 0)
		*d++ = *s++;
}

static void
set_short(uint8_t *d, uint8_t c, size_t n)
{
	for (; n >= 8; n -= 8) {
		*(word *)d = c * UINT64_C(0x0101010101010101);
		d += 8;
	}
	while (n-- > 0)
		*d++ = c;
}

void *
memcpy(void *restrict dst, const void *restrict src, size_t n)
{
	void *d = dst;

	if (n <= SHORT_COPY) {
		copy_short(dst, src, n);
		return dst;
	}
	__asm__ volatile("rep movsb"
			 : "+D"(d), "+S"(src), "+c"(n)
			 :
			 : "memory");
	return dst;
}

void *
memset(void *dst, int c, size_t n)
{
	void *d = dst;

	if (n <= SHORT_SET) {
		set_short(dst, (uint8_t)c, n);
		return dst;
	}
	__asm__ volatile("rep stosb" : "+D"(d), "+c"(n) : "a"(c) : "memory");
	return dst;
}
