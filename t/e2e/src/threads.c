/*
 * threads TOTAL [wait]: eight threads call work() TOTAL times together.  With
 * "wait", says "ready PID" and waits for a line first.
 * Says "calls TOTAL" and "sum N" as it counted them itself.
 */
#include <pthread.h>

#include "trigger.h"

enum { NTHREADS = 8 };

static long calls[NTHREADS], sums[NTHREADS];
static long total;

NOINLINE long
work(long n)
{
	__asm__ volatile("" ::: "memory");
	return (n * 7) & 1023;
}

static void *
run(void *arg)
{
	long t = (long)arg;

	for (long i = t; i < total; i += NTHREADS) {
		sums[t] += work(i);
		calls[t]++;
	}
	return NULL;
}

int
main(int argc, char **argv)
{
	pthread_t thread[NTHREADS];
	long n = 0, sum = 0;

	trigger_init();
	total = argc > 1 ? atol(argv[1]) : 1000;
	if (argc > 2)
		trigger_wait();
	for (long t = 0; t < NTHREADS; t++)
		if (pthread_create(&thread[t], NULL, run, (void *)t) != 0)
			return 2;
	for (long t = 0; t < NTHREADS; t++) {
		pthread_join(thread[t], NULL);
		n += calls[t];
		sum += sums[t];
	}
	printf("calls %ld\nsum %ld\n", n, sum);
	return 0;
}
