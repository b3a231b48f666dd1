/*
 * Binary search.
 */
#ifndef DLANG_BASE_SORTED_H
#define DLANG_BASE_SORTED_H

#include <stddef.h>

/*
 * The number of leading elements, of n, for which the condition on their index
 * `i' is true.  The condition must be false for all elements behind these.
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
