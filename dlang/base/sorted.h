/*
 * Searching what is sorted.
 */
#ifndef DLANG_BASE_SORTED_H
#define DLANG_BASE_SORTED_H

#include <stddef.h>

/*
 * How many of n elements come first: those for whose number `i' the condition is
 * true, and there is none behind one for which it is false.
 *
 *	size_t n = sorted_count(v.len, i, v.at[i].addr <= addr);
 */
#define sorted_count(n, i, condition)                              \
	({                                                         \
		size_t lo_##i = 0, hi_##i = (n);                   \
                                                                   \
		while (lo_##i < hi_##i) {                          \
			size_t i = lo_##i + (hi_##i - lo_##i) / 2; \
			if (condition)                             \
				lo_##i = i + 1;                    \
			else                                       \
				hi_##i = i;                        \
		}                                                  \
		(lo_##i);                                          \
	})

#endif
