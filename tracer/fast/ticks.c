/*
 * The rate at which the processor's count grows, for threads that tell the time from
 * it (agent_now() of inject/agent/ops.c).
 *
 * A thread compares with the kernel's clock every millisecond.  So the rate need not
 * be exact: one part in a hundred thousand is ten nanoseconds.  A clock that is being
 * set slowly, by a part in two thousand at most as NTP does, is half a microsecond
 * wrong.
 */
#include <string.h>

#include "dlang/base/clock.h"
#include "dlang/base/machine.h"
#include "tracer/fast/fast_impl.h"

#define SOURCE \
	"/sys/devices/system/clocksource/clocksource0/current_clocksource"

/* The least time in which the rate can be measured. */
#define MEASURED NS_PER_MS
/* For so long a thread does not ask the kernel's clock. */
#define GOOD NS_PER_MS

/* The best of some: the thread may be preempted between two reads. */
static struct ticks
look(void)
{
	uint64_t least = UINT64_MAX;
	struct ticks best = { 0 };

	for (int i = 0; i < 16; i++) {
		uint64_t from = machine_ticks();
		uint64_t ns = clock_ns(CLOCK_MONOTONIC);
		uint64_t to = machine_ticks();
		if (to - from >= least)
			continue;
		least = to - from;
		best = (struct ticks){ from + least / 2, ns };
	}
	return best;
}

/* The kernel has found that the counts of all processors are one. */
static bool
is_clock(void)
{
	FILE *f = MACHINE_TICKS[0] != '\0' ? fopen(SOURCE, "re") : NULL;
	char text[64];

	if (f == NULL)
		return false;
	bool is = fgets(text, sizeof(text), f) != NULL &&
	    strcmp(text, MACHINE_TICKS "\n") == 0;
	fclose(f);
	return is;
}

void
ticks_begin(struct ticks *t)
{
	*t = is_clock() ? look() : (struct ticks){ 0 };
}

void
ticks_rate(const struct ticks *t, uint64_t *tick_most, uint64_t *tick_rate)
{
	struct ticks now = { 0 };

	*tick_most = *tick_rate = 0;
	if (t->ns != 0 && is_clock())
		now = look();
	/* A count of more than 64 GHz, or less than 1 MHz, is none. */
	double ns = (double)(now.ns - t->ns);
	double rate = now.at > t->at ? ns / (double)(now.at - t->at) : 0;
	if (now.ns < t->ns + MEASURED || rate < 1.0 / 64 || rate > 1000)
		return;
	*tick_rate = (uint64_t)(rate * 4294967296.0);
	*tick_most = (uint64_t)(GOOD / rate);
}
