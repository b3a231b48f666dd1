/*
 * An indirect function of our own, called directly and through a pointer, and
 * libc's memcpy, itself one.  The sizes copied sum up to what is said.
 */
#include <stddef.h>

#include "trigger.h"

static long
plain(long n)
{
	__asm__ volatile("" ::: "memory");
	return n + 5;
}

static long (*resolve(void))(long)
{
	return plain;
}

long indirect(long n) __attribute__((ifunc("resolve")));

int
main(void)
{
	static char from[4096], to[4096];
	long (*volatile fn)(long) = indirect;
	void *(*volatile copy)(void *, const void *, size_t) = memcpy;
	size_t bytes = 0;
	long r = 0;

	trigger_init();
	for (size_t i = 0; i < sizeof(from); i++)
		from[i] = (char)(i * 31);
	for (size_t n = 0; n <= 4096; n = n * 2 + 1) {
		copy(to, from, n);
		bytes += n;
		if (memcmp(to, from, n) != 0)
			return 1;
	}
	for (long i = 0; i < 10; i++)
		r += indirect(i) + fn(i);
	printf("indirect 20 sum %ld copied %zu\n", r, bytes);
	return 0;
}
