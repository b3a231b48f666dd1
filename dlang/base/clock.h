/*
 * The clocks of the system.
 */
#ifndef DLANG_BASE_CLOCK_H
#define DLANG_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NS_PER_S  1000000000ULL
#define NS_PER_MS 1000000ULL

/* A clock of clock_gettime(2), in nanoseconds. */
static inline uint64_t
clock_ns(clockid_t id)
{
	struct timespec ts = { 0 };

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

/* The coarse clock, in milliseconds: it costs less and is late by a tick of the
 * kernel at most. */
static inline uint64_t
clock_coarse_ms(void)
{
	return clock_ns(CLOCK_MONOTONIC_COARSE) / NS_PER_MS;
}

#endif
