/*
 * shares: waits for a line; then eight threads work in three functions, and
 * the shares are printed as the threads' own clocks have measured them, in
 * percent: "FUNCTION SHARE".
 */
#include <pthread.h>
#include <time.h>

#include "trigger.h"

#define THREADS 8
#define SLICE   10000000L
#define ROUNDS  10

/* Of each round; the functions are equally fast. */
static const int parts[] = { 7, 2, 1 };
static long long spent[THREADS][3];

static long long
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* No system calls: a thread is likelier to be seen where it makes one, as it
 * gives way to the tracer there. */
#define WORK(name, op)                                        \
	NOINLINE unsigned long name(long n)                   \
	{                                                     \
		unsigned long x = 1;                          \
		for (; n > 0; n--)                            \
			__asm__ volatile(op : "+r"(x)::"cc"); \
		return x;                                     \
	}
WORK(large, "add $3, %0")
WORK(middle, "xor $5, %0")
WORK(small, "sub $7, %0")

static void *
thread(void *arg)
{
	unsigned long (*const fn[])(long) = { large, middle, small };
	long long *mine = arg;

	for (int round = 0; round < ROUNDS; round++)
		for (int k = 0; k < 3; k++) {
			long long from = now();
			fn[k](parts[k] * SLICE);
			mine[k] += now() - from;
		}
	return NULL;
}

int
main(void)
{
	static const char *const names[] = { "large", "middle", "small" };
	long long sum[3] = { 0 }, all = 0;
	pthread_t t[THREADS];

	trigger_init();
	trigger_wait();
	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, thread, spent[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < THREADS; i++)
		for (int k = 0; k < 3; k++) {
			sum[k] += spent[i][k];
			all += spent[i][k];
		}
	for (int k = 0; k < 3; k++)
		printf("%s %.2f\n", names[k],
		    100.0 * (double)sum[k] / (double)all);
	return 0;
}
