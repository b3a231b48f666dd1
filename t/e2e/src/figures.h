/*
 * What programs have probed that check their own results: functions whose value
 * is known by another road.
 */
#ifndef T_E2E_FIGURES_H
#define T_E2E_FIGURES_H

#include <stdint.h>

#include "trigger.h"

NOINLINE uint64_t
work(uint64_t n)
{
	uint64_t r = n;

	for (int i = 0; i < 4; i++)
		r = r * 6364136223846793005ull + 1442695040888963407ull;
	return r ^ n;
}

/* The same, and never probed. */
static uint64_t
work_again(uint64_t n)
{
	uint64_t a = 6364136223846793005ull, c = 1442695040888963407ull;
	uint64_t r = n;

	r = a * r + c;
	r = a * r + c;
	r = a * r + c;
	r = a * r + c;
	return r ^ n;
}

NOINLINE uint64_t
recurse(uint64_t n)
{
	return n < 2 ? n : recurse(n - 1) + recurse(n - 2);
}

#endif
