/*
 * calls N: a tree of calls with known counts.  outer() is called N times and
 * calls inner() twice and slow() once; slow() spins for at least 2 ms of its
 * own, inner() for at least 1 ms.
 */
#include <time.h>

#include "t/workload/workload.h"

static volatile int sink;

static double
now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static inline void
spin(double seconds)
{
	double end = now() + seconds;

	while (now() < end)
		sink++;
}

NOINLINE static void
inner(int n)
{
	spin(0.001);
}

NOINLINE static void
slow(int n)
{
	spin(0.002);
}

NOINLINE static void
outer(int n)
{
	inner(n);
	slow(n + 1);
	inner(n + 2);
	sink++;
}

int
main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	for (int i = 0; i < atoi(argv[1]); i++)
		outer(i);
	return 0;
}
