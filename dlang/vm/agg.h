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
 * The writer only adds entries, and adds to the values of entries.  The reader
 * keeps a copy of the values that it has read and computes the difference
 * (agg_difference()), so it never resets memory that a writer may be writing.
 * When an area is full, or minima must be forgotten, the reader empties the
 * area that is not in use and switches the writer to it (agg_flip()).  It reads
 * the other area once more, after the writer has left it (agg_is_busy()).
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
	uint32_t updates;  /* number of additions; wraps */
	/* key, padded to 8 bytes, then the value */
	uint8_t data[];
};

/* For generated code, which does what agg_update() does.  The offset of the
 * buckets in an area: */
#define AGG_BUCKET 8

/* The hash of a key: each word of it, the last one filled up with zeroes, goes
 * into h = (h ^ word) * AGG_HASH_FACTOR, and then into h ^= h >> 32.  The result
 * is the low half of h.  Words that are 0 at the end of the key are left out, if
 * they are behind AGG_HASH_ALL bytes: a key that is a string is as long as the
 * longest one. */
#define AGG_HASH_BEGIN(id) ((id)*UINT64_C(0x9e3779b97f4a7c15))
#define AGG_HASH_FACTOR    UINT64_C(0xff51afd7ed558ccd)
#define AGG_HASH_ALL       32
uint32_t agg_key_hash(uint64_t id, const void *key, uint32_t size);

/* A place of the writer's to find the entry of a key again: it is at `ref' as long
 * as agg_area of the lane is `area'.  Pins are numbered by the EPIDs of ECBs
 * whose key is always the same (ACT_F_PIN). */
struct agg_pin {
	uint32_t ref, area;
};

/* Writer: add `value' (for the quantizers `increment' times) under a key of
 * agg->key_size bytes, in the entry for `cpu' (as in struct agg_entry), and pin the
 * entry if the lane has this pin.  Counts a drop if there is no room. */
#define AGG_NO_PIN UINT32_MAX
void agg_update(const struct lane_view *v, const struct img_agg *agg,
    const void *key, uint32_t cpu, int64_t value, int64_t increment,
    uint32_t pin);

/* dst = what was added to a value since it was `before'.  For min and max it is
 * the whole value, because that can be merged twice. */
void agg_difference(uint32_t func, uint32_t words, uint64_t *dst,
    const uint64_t *now, const uint64_t *before);
/* Add value words `src' to `dst', both of aggregation function func.  Used
 * by the consumer to merge lanes and snapshots. */
void agg_merge(
    uint32_t func, uint32_t words, uint64_t *dst, const uint64_t *src);
/* Write the words of an empty value. */
void agg_zero(uint32_t func, uint64_t param, uint32_t words, uint64_t *value);
/* Bytes of an entry in a lane. */
uint64_t agg_entry_size(uint32_t key_size, uint32_t words);
/* 8-byte words a value takes. */
uint32_t agg_words(uint32_t func, uint64_t param);
/* Does an area of `size' bytes hold at least one entry whose key and value take
 * `data' bytes?  If not, the aggregation would never record anything. */
bool agg_holds(uint32_t size, uint32_t data);
/* Histograms: the index of the word that counts a value.  0 for other
 * functions. */
uint32_t agg_bucket(uint32_t func, uint64_t param, int64_t value);

/* Reader: the next entry of area 0 or 1, bounds checked; NULL after the last.
 * *cookie is 0 at first. */
const struct agg_entry *agg_next(
    const struct lane_view *v, uint32_t area, uint32_t *cookie);

/*
 * Reader: agg_flip() empties an area that is not in use and switches the writer
 * to it.  A writer that was in the middle of an update may add to the old area
 * as long as agg_is_busy() returns true. *since is 0 at first; agg_is_busy()
 * changes it.  If the writer is another thread, the reader must cause a barrier
 * in all threads (membarrier(2)) between the two calls, because the writer has
 * none of its own.
 */
void agg_flip(const struct lane_view *v, uint32_t area);
bool agg_is_busy(const struct lane_view *v, uint32_t *since);
/* How full the area in use is, in 1/256. */
uint32_t agg_fill(const struct lane_view *v);

#endif
