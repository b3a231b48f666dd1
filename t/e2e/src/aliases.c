/* One function, three names; and a function in a section of its own. */
#include "trigger.h"

NOINLINE long
first_name(long n)
{
	__asm__ volatile("" ::: "memory");
	return n + 1;
}

long second_name(long n) __attribute__((alias("first_name")));
long _first_name(long n) __attribute__((weak, alias("first_name")));
long third_name(long n) __attribute__((weak, alias("first_name")));

NOINLINE __attribute__((section(".text.apart"))) long
apart(long n)
{
	__asm__ volatile("" ::: "memory");
	return n - 1;
}

int
main(void)
{
	long r = 0;

	trigger_init();
	for (long i = 0; i < 10; i++)
		r += first_name(i) + second_name(i) + third_name(i) + apart(i);
	printf("calls 30 sum %ld\n", r);
	return 0;
}
