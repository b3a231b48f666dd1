/*
 * The consumer's clock. It is in a file of its own because a test of lanes
 * (t/vm/interleave.c) replaces it.
 */
#include "dlang/base/clock.h"
#include "tracer/consume/consume_impl.h"

uint64_t
consume_now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}
