/*
 * Aggregations of one lane: keyed entries, updated in place, never removed by
 * the writer; the consumer takes what is there and empties the store.
 */
#ifndef DLANG_VM_AGG_H
#define DLANG_VM_AGG_H

#include "dlang/vm/store.h"

struct vm_env;

struct agg_entry {
	uint32_t next_ref; /* same bucket */
	uint32_t id;       /* aggregation, from 1 */
	uint32_t hash;
	uint32_t key_size; /* bytes */
	uint32_t words;    /* of the value */
	uint32_t cpu;      /* plus 1; 0: of all processors */
	/* key, padded to 8 bytes, then the value */
	uint8_t data[];
};

/* Writer: add `value' (times `increment' for the quantizers) under a key of
 * agg->key_size bytes, in the entry that is for `cpu' (see there).  No room: a
 * drop is counted. */
void agg_update(const struct region *store, struct lane *l,
    const struct img_agg *agg, const void *key, uint32_t cpu, int64_t value,
    int64_t increment);

/* Add value words `src' to `dst', both of aggregation function func.  Used
 * by the consumer to merge lanes and snapshots. */
void agg_merge(
    uint32_t func, uint32_t words, uint64_t *dst, const uint64_t *src);
/* The words of a value to which nothing was added. */
void agg_zero(uint32_t func, uint64_t param, uint32_t words, uint64_t *value);
/* 8-byte words a value takes. */
uint32_t agg_words(uint32_t func, uint64_t param);
/* Is there room in an area of `size' bytes for an entry whose key and value
 * take `data'?  Where not, nothing would ever be aggregated. */
bool agg_holds(uint32_t size, uint32_t data);
/* The word that counts a value: of the histograms, 0 for all others. */
uint32_t agg_bucket(uint32_t func, uint64_t param, int64_t value);

/* Reader: every entry, bounds checked.  *cookie starts at 0. */
const struct agg_entry *agg_next(
    const struct region *store, const struct lane *l, uint32_t *cookie);
/* Empty the lane's store, after reading it. */
void agg_reset(const struct region *store, struct lane *l);
/* How full it is, in 1/256. */
uint32_t agg_fill(const struct region *store, const struct lane *l);

#endif
