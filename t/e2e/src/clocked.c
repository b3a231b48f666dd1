/*
 * clocked N: calls before() N times with the time, and after each of them after()
 * with the time that it is then (CLOCK_MONOTONIC, in ns).
 */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static uint64_t
now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

__attribute__((noinline)) void
before(uint64_t ns)
{
	static volatile uint64_t sum;

	sum += ns;
}

__attribute__((noinline)) void
after(uint64_t ns)
{
	static volatile uint64_t sum;

	sum -= ns;
}

int
main(int argc, char **argv)
{
	long calls = argc > 1 ? atol(argv[1]) : 1;

	while (calls-- > 0) {
		before(now());
		after(now());
	}
	return 0;
}
