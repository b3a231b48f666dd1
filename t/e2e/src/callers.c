/*
 * callers N MS: waits for a line; then N threads compute, and make a system
 * call every few microseconds, for some MS milliseconds each.  Says "call
 * SHARE", how much of their time they are in call(), in percent by their own
 * clocks, and "wall MS".
 */
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>

#include "trigger.h"

#define STEPS 20000
#define TRIES 2000

static long rounds;

static double
now(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

NOINLINE unsigned long
work(long n)
{
	unsigned long x = 1;

	for (; n > 0; n--)
		__asm__ volatile("add $3, %0" : "+r"(x)::"cc");
	return x;
}

NOINLINE void
call(void)
{
	long r = SYS_getppid;

	__asm__ volatile("syscall" : "+a"(r)::"rcx", "r11", "memory");
}

/* The time that one takes, alone. */
static double
measure(int works, int calls)
{
	double from = now(CLOCK_THREAD_CPUTIME_ID);

	for (int i = 0; i < works; i++)
		work(STEPS);
	for (int i = 0; i < calls; i++)
		call();
	return (now(CLOCK_THREAD_CPUTIME_ID) - from) / (works + calls);
}

static void *
thread(void *arg)
{
	for (long i = 0; i < rounds; i++) {
		work(STEPS);
		call();
	}
	return NULL;
}

int
main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1;
	double ms = argc > 2 ? atof(argv[2]) : 1000;
	pthread_t t[64];

	trigger_init();
	double one_work = measure(TRIES, 0), one_call = measure(0, TRIES * 20);
	rounds = (long)(ms / (one_work + one_call));
	printf("call %.2f\n", 100 * one_call / (one_work + one_call));
	trigger_wait();
	double from = now(CLOCK_MONOTONIC);
	for (int i = 0; i < n && i < 64; i++)
		pthread_create(&t[i], NULL, thread, NULL);
	for (int i = 0; i < n && i < 64; i++)
		pthread_join(t[i], NULL);
	printf("wall %.0f\n", now(CLOCK_MONOTONIC) - from);
	return 0;
}
