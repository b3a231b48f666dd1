/*
 * Which load was at an address when a record was made.
 *
 * A record names its address space by a number, the stamp.  As long as no
 * object comes to lie where another one was, one stamp will do: what is gone
 * is still the only thing that was ever there.  When one does, a new stamp
 * begins, and what was recorded under the old one keeps its meaning.
 *
 *	generation   1    2    3    4    5    6
 *	a.so at A    |---------|
 *	b.so at B         |-----------------------
 *	c.so at A                   |-------------
 *	stamp        7  7  7  7  7  8  8  8  8  8
 */
#ifndef SYMBOLS_EPOCHS_H
#define SYMBOLS_EPOCHS_H

#include <stdbool.h>
#include <stdint.h>

#include "dlang/base/vec.h"

struct load;

/* A load was mapped in the generations from `from' to `to' - 1. */
struct epoch_span {
	struct load *load;
	uint32_t from, to; /* UINT32_MAX: it still is */
};

struct epoch {
	uint32_t stamp;
	uint32_t from; /* its first generation */
};

struct epochs {
	VEC(struct epoch_span) spans;
	VEC(struct epoch) list; /* in order; the last is the present */
};

void epochs_init(struct epochs *e, uint32_t stamp, uint32_t generation);
void epochs_fini(struct epochs *e);

void epochs_gone(struct epochs *e, const struct load *l, uint32_t generation);

/* Does the load, which comes now, lie where another was under the present
 * stamp?  Ask for all that come before any is added. */
bool epochs_contested(const struct epochs *e, const struct load *l);
void epochs_begin(struct epochs *e, uint32_t stamp, uint32_t generation);
void epochs_came(struct epochs *e, struct load *l, uint32_t generation);

/* The stamp of records that are made now, and the first there was. */
uint32_t epochs_now(const struct epochs *e);
uint32_t epochs_first(const struct epochs *e);

/*
 * The load that was at addr under a past stamp, or NULL.  Where none was, the
 * one that came there first afterwards: the stamp may be older than what was
 * loaded at a place that is nobody else's.
 */
struct load *epochs_load(const struct epochs *e, uint32_t stamp, uint64_t addr);

#endif
