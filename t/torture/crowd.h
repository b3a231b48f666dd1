/*
 * Three thousand functions that are alike but for a number, each with a value
 * that is known by another road: for who wants as many places to probe.
 */
#ifndef T_TORTURE_CROWD_H
#define T_TORTURE_CROWD_H

#include <stdint.h>

#include "t/e2e/src/trigger.h"

#define CROWD_FACTOR 0x9e3779b97f4a7c15ull

/* clang-format off */
#define CROWD_16(each, p) \
	each(p##0) each(p##1) each(p##2) each(p##3) each(p##4) each(p##5) \
	each(p##6) each(p##7) each(p##8) each(p##9) each(p##a) each(p##b) \
	each(p##c) each(p##d) each(p##e) each(p##f)
#define CROWD_256(each, p) \
	CROWD_16(each, p##0) CROWD_16(each, p##1) CROWD_16(each, p##2) \
	CROWD_16(each, p##3) CROWD_16(each, p##4) CROWD_16(each, p##5) \
	CROWD_16(each, p##6) CROWD_16(each, p##7) CROWD_16(each, p##8) \
	CROWD_16(each, p##9) CROWD_16(each, p##a) CROWD_16(each, p##b) \
	CROWD_16(each, p##c) CROWD_16(each, p##d) CROWD_16(each, p##e) \
	CROWD_16(each, p##f)
#define CROWD_ALL(each) \
	CROWD_256(each, 0x0) CROWD_256(each, 0x1) CROWD_256(each, 0x2) \
	CROWD_256(each, 0x3) CROWD_256(each, 0x4) CROWD_256(each, 0x5) \
	CROWD_256(each, 0x6) CROWD_256(each, 0x7) CROWD_256(each, 0x8) \
	CROWD_256(each, 0x9) CROWD_256(each, 0xa) CROWD_256(each, 0xb)
/* clang-format on */

#define CROWD_MAKE(n)                                                  \
	NOINLINE static uint64_t crowd_##n(uint64_t x)                 \
	{                                                              \
		return (x ^ (uint64_t)n) * CROWD_FACTOR + (uint64_t)n; \
	}
#define CROWD_NAME(n) crowd_##n,

CROWD_ALL(CROWD_MAKE)

static uint64_t (*const crowd[])(uint64_t) = { CROWD_ALL(CROWD_NAME) };

#define CROWD (sizeof(crowd) / sizeof(*crowd))

/* Call the nth of them, from the first again after the last; false if its value
 * is not what it should be. */
static inline bool
crowd_is_right(uint64_t n, uint64_t x)
{
	uint64_t i = n % CROWD;

	return crowd[i](x) == (x ^ i) * CROWD_FACTOR + i;
}

#endif
