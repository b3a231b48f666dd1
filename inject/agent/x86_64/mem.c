/*
 * memcpy() and memset() of the agent: inject/agent/mem.c has the other two.
 */
#include "dlang/vm/port.h"

void *
memcpy(void *restrict dst, const void *restrict src, size_t n)
{
	void *d = dst;

	/* One instruction, and fast on everything since 2013 (ERMS). */
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

	__asm__ volatile("rep stosb" : "+D"(d), "+c"(n) : "a"(c) : "memory");
	return dst;
}
