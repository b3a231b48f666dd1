/*
 * switches turns N	two threads hand a byte to each other, N times each.  Each says
 *			when it began and ended that, how often it lost its
 *			processor meanwhile, of its own accord and not, and how
 *			many ns it has run
 * switches crowd N	N threads wait for each other, and end
 * switches waits	a thread waits in deep() for a line, under a frame with a
 *			buffer that has never been written to; after the line it
 *			begins anew, until the end of the input
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "trigger.h"

static int to[2], from[2];
static long turns;

struct moment {
	long long ns, ran;
	long given, taken;
};

static long long
now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

/* A time at which no switch is, with the number of switches before it. */
static struct moment
look(void)
{
	struct rusage a, b;
	long long ns, ran;

	do {
		getrusage(RUSAGE_THREAD, &a);
		ns = now(CLOCK_MONOTONIC);
		ran = now(CLOCK_THREAD_CPUTIME_ID);
		getrusage(RUSAGE_THREAD, &b);
	} while (a.ru_nvcsw != b.ru_nvcsw || a.ru_nivcsw != b.ru_nivcsw);
	return (struct moment){ ns, ran, a.ru_nvcsw, a.ru_nivcsw };
}

static void
hand(int in, int out, bool first)
{
	struct moment a = look();
	char c = 0;

	for (long i = 0; i < turns; i++)
		if ((first && write(out, &c, 1) != 1) || read(in, &c, 1) != 1 ||
		    (!first && write(out, &c, 1) != 1))
			exit(1);
	struct moment b = look();
	printf("thread %d %lld %lld %ld %ld %lld\n", (int)gettid(), a.ns, b.ns,
	    b.given - a.given, b.taken - a.taken, b.ran - a.ran);
	fflush(stdout);
}

static void *
other(void *arg)
{
	hand(to[0], from[1], false);
	return NULL;
}

static pthread_barrier_t all;

static void *
meet(void *arg)
{
	pthread_barrier_wait(&all);
	return NULL;
}

static void
crowd(unsigned n)
{
	pthread_t t[64];

	pthread_barrier_init(&all, NULL, n);
	for (unsigned i = 0; i < n; i++)
		pthread_create(&t[i], NULL, meet, NULL);
	for (unsigned i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	puts("met");
}

static void
hand_over(void)
{
	pthread_t t;

	if (pipe(to) != 0 || pipe(from) != 0)
		exit(1);
	pthread_create(&t, NULL, other, NULL);
	hand(from[0], to[1], true);
	pthread_join(t, NULL);
}

NOINLINE bool
deep(void)
{
	char line[32];
	ssize_t n = read(0, line, sizeof(line));

	__asm__ volatile("" ::: "memory");
	return n > 0;
}

NOINLINE bool
wide(void)
{
	volatile char buffer[4000];
	bool more = deep();

	buffer[0] = more;
	return buffer[0];
}

NOINLINE bool
outer(void)
{
	bool more = wide();

	__asm__ volatile("" ::: "memory");
	return more;
}

static void *
waiter(void *arg)
{
	while (outer())
		continue;
	return NULL;
}

static void
wait_for_lines(void)
{
	pthread_t t;

	pthread_create(&t, NULL, waiter, NULL);
	pthread_join(t, NULL);
}

int
main(int argc, char **argv)
{
	trigger_init();
	if (argc > 2 && strcmp(argv[1], "crowd") == 0) {
		crowd((unsigned)strtoul(argv[2], NULL, 10));
	} else if (argc > 2) {
		turns = strtol(argv[2], NULL, 10);
		hand_over();
	} else {
		trigger_wait();
		wait_for_lines();
	}
	return 0;
}
