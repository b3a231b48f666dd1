/*
 * Aggregations of one lane.
 *
 *	writer					reader
 *	    |	  +--------------+ differences		 |
 *	    +---->| area 0: grows | -------------------->+
 *		  +--------------+			 |
 *		  | area 1: empty | <--- agg_flip() -----+
 *		  +--------------+
 *
 * The writer only adds: to the values of entries, and entries.  The reader keeps
 * what it has read and takes the difference (agg_difference()), so nothing that
 * a writer may be writing is ever reset.  When an area is full, or the smallest
 * of values shall be forgotten, the reader empties the area that nobody writes
 * and has the writer go over to it (agg_flip()); the area that was left is read
 * once more, when its writer has gone (agg_is_busy()).
 */
#ifndef DLANG_VM_AGG_H
#define DLANG_VM_AGG_H

#include "dlang/vm/store.h"

struct vm_env;

struct agg_entry {
	uint32_t next_ref; /* same bucket */
	uint16_t id;       /* aggregation, from 1 */
	uint16_t cpu;      /* plus 1; 0: of all processors */
	uint32_t hash;
	uint32_t key_size; /* bytes */
	uint32_t words;    /* of the value */
	uint32_t updates;  /* how often something was added; wraps */
	/* key, padded to 8 bytes, then the value */
	uint8_t data[];
};

/* Writer: add `value' (times `increment' for the quantizers) under a key of
 * agg->key_size bytes, in the entry that is for `cpu' (see there).  No room: a
 * drop is counted. */
void agg_update(const struct lane_view *v, const struct img_agg *agg,
    const void *key, uint32_t cpu, int64_t value, int64_t increment);

/* What has been added to a value since it was `before'; of min and max all that
 * there is, as it can be merged twice. */
void agg_difference(uint32_t func, uint32_t words, uint64_t *dst,
    const uint64_t *now, const uint64_t *before);
/* Add value words `src' to `dst', both of aggregation function func.  Used
 * by the consumer to merge lanes and snapshots. */
void agg_merge(
    uint32_t func, uint32_t words, uint64_t *dst, const uint64_t *src);
/* The words of a value to which nothing was added. */
void agg_zero(uint32_t func, uint64_t param, uint32_t words, uint64_t *value);
/* Bytes of an entry in a lane. */
uint64_t agg_entry_size(uint32_t key_size, uint32_t words);
/* 8-byte words a value takes. */
uint32_t agg_words(uint32_t func, uint64_t param);
/* Is there room in an area of `size' bytes for an entry whose key and value
 * take `data'?  Where not, nothing would ever be aggregated. */
bool agg_holds(uint32_t size, uint32_t data);
/* The word that counts a value: of the histograms, 0 for all others. */
uint32_t agg_bucket(uint32_t func, uint64_t param, int64_t value);

/* Reader: every entry of an area, 0 or 1, bounds checked.  *cookie starts at
 * 0. */
const struct agg_entry *agg_next(
    const struct lane_view *v, uint32_t area, uint32_t *cookie);

/*
 * Reader: empty an area that is not written, and have the writer go over to
 * it.  A writer who was writing may add to the other one for as long
 * as agg_is_busy() says so: *since is 0 at first and belongs to the reader.
 * Between the two, where the writer is another thread, there has to be a barrier
 * in all threads (membarrier(2)): the writer has none of its own.
 */
void agg_flip(const struct lane_view *v, uint32_t area);
bool agg_is_busy(const struct lane_view *v, uint32_t *since);
/* How full the area that is written is, in 1/256. */
uint32_t agg_fill(const struct lane_view *v);

#endif
