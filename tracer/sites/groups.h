/*
 * Tracepoints that are too close to each other for a jump each: which of them can
 * share one, and which instructions the code of each displaces
 * (inject/tracepoint.h draws it).
 *
 *	windows		|--- A ----|		of A and B overlap, so the
 *			      |-- B --|		instructions of both follow each
 *	code of A	|-----|			other and only the first can be
 *	code of B	      |-------|		led to from elsewhere
 *
 * A window with a board is of a place alone.
 *
 * A tracepoint that has no window of its own, because too few bytes follow it, can
 * be in that of another.
 */
#ifndef TRACER_SITES_GROUPS_H
#define TRACER_SITES_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "disasm/window.h"

struct place {
	uint64_t addr;
	const struct window *window; /* NULL: it has none */
	void *of;                    /* the caller's */
	bool may; /* a jump may stand for it; else its int3 stays */
};

/* Places that share a jump, or one alone: at[0 .. n), in the order of addresses. */
struct group {
	const struct place *at;
	size_t n;
	uint64_t start, end; /* the bytes that must not be led to, but for the
			      * first */
};

/* Sort the places by address, and call fn for each group in that order.  Groups do
 * not overlap.  A place in no group can have no jump because of another place, or
 * because it has no window. */
void groups_each(struct place *at, size_t n,
    void (*fn)(void *ctx, const struct group *g), void *ctx);

/* The i'th of a group alone. */
struct group group_alone(const struct group *g, size_t i);

/* Is addr the begin of one of its instructions, but the first? */
bool group_has(const struct group *g, uint64_t addr);

/* The window for the code of the i'th: from the begin of the group or its own
 * address up to the next one's, or to the end.  False: it has too many
 * instructions. */
bool group_window(const struct group *g, size_t i, struct window *w);

#endif
