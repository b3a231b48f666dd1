/*
 * Known arguments and return values.  Says what a tracer should have seen:
 * lines "entry ..." and "return ...".
 */
#include "trigger.h"

NOINLINE long
ten(long a, long b, long c, long d, long e, long f, long g, long h, long i,
    long j)
{
	__asm__ volatile("" ::: "memory");
	return a + b + c + d + e + f + g + h + i + j;
}

NOINLINE int
negative(int n)
{
	__asm__ volatile("" ::: "memory");
	return -n;
}

NOINLINE unsigned char
byte(int n)
{
	__asm__ volatile("" ::: "memory");
	return (unsigned char)n;
}

NOINLINE const char *
text(const char *s)
{
	__asm__ volatile("" ::: "memory");
	return s + 1;
}

/* Three returns; which one is taken depends on n. */
NOINLINE long
branches(long n)
{
	__asm__ volatile("" ::: "memory");
	if (n == 0)
		return 100;
	__asm__ volatile("" ::: "memory");
	if (n < 0)
		return negative((int)n) + 1;
	__asm__ volatile("" ::: "memory");
	return n * 2;
}

int
main(void)
{
	long r;

	trigger_init();
	for (long k = 1; k <= 3; k++) {
		r = ten(k, -2, 3, 1l << 40, 5, 6, 7 * k, -8, 1l << 41, 10);
		printf("ten %ld -2 3 %ld 5 6 %ld -8 %ld 10 = %ld\n", k,
		    1l << 40, 7 * k, 1l << 41, r);
	}
	for (int k = -1; k <= 1; k++)
		printf("negative %d = %d\n", k, negative(k));
	printf("byte 300 = %d\n", byte(300));
	printf("text = %s\n", text("xhello"));
	for (long k = -1; k <= 1; k++)
		printf("branches %ld = %ld\n", k, branches(k));
	return 0;
}
