/*
 * The consumer's clock.  It has a file of its own because tests of lanes put
 * another in its place (t/vm/interleave.c).
 */
#include "dlang/base/clock.h"
#include "tracer/consume/consume_impl.h"

uint64_t
consume_now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}
