/*
 * Threads tell the time from a count of the processor: tracer/fast/ticks.c, which
 * measures its rate, with agent_now() of inject/agent/ops.c, beside the kernel's
 * clock.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dlang/base/base.h"
#include "dlang/base/machine.h"
#include "t/unit/suite.h"
#include "tracer/fast/fast_impl.h"

static struct timespec real;

static uint64_t
kernel_ns(void)
{
	clock_gettime(CLOCK_MONOTONIC, &real);
	return (uint64_t)real.tv_sec * 1000000000 + (uint64_t)real.tv_nsec;
}

/* It has one of its own, for the vDSO. */
#define timespec agent_timespec
#include "inject/agent/ops.c"

struct agent agent;
static uint64_t asked; /* how often the kernel's clock was read */

static int
ask_kernel(int which, struct agent_timespec *ts)
{
	kernel_ns();
	asked++;
	*ts = (struct agent_timespec){ real.tv_sec, real.tv_nsec };
	return 0;
}

uint32_t
agent_cpu(void)
{
	return 0;
}

uint64_t
agent_ticks(void)
{
	return machine_ticks();
}

int64_t
agent_ask(const struct vm_env *env, enum agent_what what, uint64_t addr,
    void *buf, uint64_t size)
{
	return -1;
}

int
agent_load(struct vm_env *env, uint64_t addr, void *buf, uint32_t len)
{
	return -1;
}

int64_t
agent_load_str(struct vm_env *env, uint64_t addr, char *buf, uint32_t size)
{
	return -1;
}

static struct ticks begun;
static struct lane lane;

static void
setup(void)
{
	memset(&lane, 0, sizeof(lane));
	agent.clock = (uint64_t)&ask_kernel;
	asked = 0;
	ticks_begin(&begun);
	if (begun.ns == 0)
		exit(77); /* the kernel's clock is something else */
}

START_TEST(a_rate_needs_time)
{
	ticks_rate(&begun, &lane.tick_most, &lane.tick_rate);
	/* Unless a millisecond has passed by now. */
	uint64_t now = kernel_ns();
	ck_assert((lane.tick_most == 0) == (lane.tick_rate == 0));
	if (lane.tick_most != 0)
		ck_assert_uint_ge(now - begun.ns, 1000000);
	begun.ns = 0;
	ticks_rate(&begun, &lane.tick_most, &lane.tick_rate);
	ck_assert_uint_eq(lane.tick_most, 0);
}
END_TEST

/* The kernel's clock before and after says how late it may be. */
START_TEST(time_is_the_kernels_within_a_microsecond)
{
	uint64_t last = 0, n = 0, end;

	while (lane.tick_most == 0)
		ticks_rate(&begun, &lane.tick_most, &lane.tick_rate);
	for (end = kernel_ns() + 300000000; last < end; n++) {
		uint64_t from = kernel_ns();
		uint64_t now = agent_now(&lane);
		uint64_t to = kernel_ns();
		ck_assert_uint_ge(now, from - 1000);
		ck_assert_uint_le(now, to + 1000);
		ck_assert_uint_ge(now, last);
		last = now;
	}
	ck_assert_uint_gt(n, 2 * asked);
	ck_assert_uint_ne(lane.tick_most, 0);
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = { a_rate_needs_time,
		time_is_the_kernels_within_a_microsecond };

	return suite_run("fast ticks", setup, NULL, tests, ARRAY_SIZE(tests));
}
