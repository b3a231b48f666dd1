/*
 * peers N: calls a function N times, as `hot' does, and says how many nanoseconds
 * one call took.  Built for tracers that a program has to be built for: with
 * LTTNG defined the function has a tracepoint of LTTng-UST; with -pg -mfentry
 * uftrace sees it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef LTTNG
#define TRACEPOINT_DEFINE
#define TRACEPOINT_CREATE_PROBES
#include "lttng.h"
#else
#define tracepoint(provider, name, value) (void)(value)
#endif

long __attribute__((noinline, noclone)) hot_call(long n)
{
	tracepoint(hot, call, n);
	__asm__ volatile("");
	return n + 1;
}

static double __attribute__((no_instrument_function)) now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int __attribute__((no_instrument_function)) main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1000000, r = 0;
	double from = now();

	while (r < n)
		r = hot_call(r);
	printf("%.1f ns per call\n", (now() - from) / (double)n);
	return 0;
}
