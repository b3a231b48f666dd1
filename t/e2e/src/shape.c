/*
 * One program, built in many shapes: fixed, position-independent, static,
 * static-pie, stripped.  Calls work() 100 times.
 */
#include "trigger.h"

NOINLINE __attribute__((visibility("default"))) long
work(long n)
{
	__asm__ volatile("" ::: "memory");
	return n * n;
}

int
main(void)
{
	long sum = 0;

	trigger_init();
	for (long i = 0; i < 100; i++)
		sum += work(i);
	printf("calls 100 sum %ld\n", sum);
	return 0;
}
