/*
 * Tells which load was at an address when a record was made.  For
 * symbols/space/.
 *
 * A record refers to its address space by a number, the stamp. As long as no
 * object is mapped where another one was, one stamp is enough: an unmapped
 * object is still the only one that was ever there. When one is, a new stamp
 * begins, and records with the old stamp keep their meaning. The number of
 * stamps is limited; beyond it, records may name the wrong one of two objects.
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
	uint32_t from, to; /* to = UINT32_MAX: it is still mapped */
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

/* Does a new load lie where another one was under the present stamp?  Call it
 * for all new loads before any is added.  If so, epochs_begin() must start a
 * new stamp. */
bool epochs_contested(const struct epochs *e, const struct load *l);
void epochs_begin(struct epochs *e, uint32_t stamp, uint32_t generation);
void epochs_came(struct epochs *e, struct load *l, uint32_t generation);

/* The stamp of records that are made now, and the first there was. */
uint32_t epochs_now(const struct epochs *e);
uint32_t epochs_first(const struct epochs *e);

/*
 * The load that was at addr under a past stamp.  If there was none, the first
 * one that was mapped there later (the record may have an old stamp if only
 * unused addresses were mapped since).  NULL: none.
 */
struct load *epochs_load(const struct epochs *e, uint32_t stamp, uint64_t addr);

#endif
