/*
 * A store of the simplest kind, behind the doors of dlang/vm/: what the
 * consumer's tests need while they are built without it.
 *
 * Lanes of 64 KiB; records from the middle of the first half on, aggregation
 * entries in the second half, found by walking.
 */
#ifndef T_UNIT_DOUBLE_VM_H
#define T_UNIT_DOUBLE_VM_H

#include <string.h>

#include "dlang/base/base.h"
#include "dlang/vm/agg.h"
#include "dlang/vm/buf.h"

#define DOUBLE_LANES 4096
#define DOUBLE_LANE  65536
#define DOUBLE_BUF   32768

uint32_t
store_size(const struct img_hdr *im, const struct store_sizes *s)
{
	return DOUBLE_LANES + s->nlanes * DOUBLE_LANE;
}

struct store_hdr *
store_hdr(const struct region *r)
{
	return (struct store_hdr *)r->base;
}

struct lane *
store_lane(const struct region *r, uint32_t n, uint32_t *ref)
{
	const struct store_hdr *h = store_hdr(r);
	uint64_t at = h->lanes_ref + (uint64_t)n * h->lane_size;

	if (n >= h->nlanes || at > UINT32_MAX)
		return NULL;
	if (ref != NULL)
		*ref = (uint32_t)at;
	return region_at(r, (uint32_t)at & ~7U, sizeof(struct lane));
}

int
store_init(
    struct region *r, const struct img_hdr *im, const struct store_sizes *s)
{
	*store_hdr(r) = (struct store_hdr){ .magic = STORE_MAGIC,
		.version = STORE_VERSION,
		.size = r->size,
		.lanes_ref = DOUBLE_LANES,
		.lane_size = DOUBLE_LANE,
		.nlanes = s->nlanes,
		.policy = s->policy };
	for (uint32_t i = 0; i < s->nlanes; i++) {
		uint32_t ref;
		struct lane *l = store_lane(r, i, &ref);
		l->size = DOUBLE_LANE;
		l->buf_ref = ref + 1024;
		l->buf_size = s->bufsize < DOUBLE_BUF ? s->bufsize : DOUBLE_BUF;
		l->agg_ref = ref + 1024 + DOUBLE_BUF;
		l->agg_size = DOUBLE_LANE - DOUBLE_BUF - 1024;
		*(uint32_t *)region_at(r, l->agg_ref, 4) = 0; /* bytes used */
	}
	return 0;
}

static uint32_t double_reserved;

void *
buf_reserve(const struct region *store, struct lane *l, uint32_t size)
{
	uint32_t pos = (uint32_t)(l->head % l->buf_size);
	uint32_t pad = size > l->buf_size - pos ? l->buf_size - pos : 0;

	size = ROUND_UP(size, 8);
	if (l->head - l->tail + pad + size > l->buf_size) {
		l->drops[DROP_PRINCIPAL]++;
		return NULL;
	}
	if (pad != 0) {
		struct rec_pad p = { EPID_PAD, pad };
		memcpy(region_at(store, l->buf_ref + pos, 8), &p, 8);
		pos = 0;
	}
	double_reserved = pad + size;
	return region_at(store, l->buf_ref + pos, size);
}

void
buf_commit(struct lane *l)
{
	l->head += double_reserved;
}

const void *
buf_peek(const struct region *store, struct lane *l, uint32_t *avail)
{
	uint32_t size = l->buf_size & ~7U;

	if (size == 0 || l->tail >= l->head ||
	    region_at(store, l->buf_ref & ~7U, size) == NULL)
		return NULL;
	uint32_t pos = (uint32_t)((l->tail & ~7ULL) % size);
	uint64_t left = size - pos;
	*avail =
	    (uint32_t)(l->head - l->tail < left ? l->head - l->tail : left);
	return region_at(store, (l->buf_ref & ~7U) + pos, *avail);
}

void
buf_advance(struct lane *l, uint32_t size)
{
	l->tail += ROUND_UP(size, 8);
}

uint32_t
agg_words(uint32_t func, uint64_t param)
{
	switch (func) {
	case AGG_AVG: return 2;
	case AGG_STDDEV: return 4;
	case AGG_QUANTIZE: return QUANTIZE_BUCKETS;
	case AGG_LQUANTIZE: return 1 + LQUANTIZE_LEVELS(param) + 2;
	case AGG_LLQUANTIZE:
		return 4 +
		    2 * (LLQUANTIZE_HIGH(param) - LLQUANTIZE_LOW(param) + 1) *
		    (LLQUANTIZE_NSTEPS(param) -
			LLQUANTIZE_NSTEPS(param) / LLQUANTIZE_FACTOR(param));
	}
	return 1;
}

void
agg_zero(uint32_t func, uint64_t param, uint32_t words, uint64_t *value)
{
	memset(value, 0, (size_t)words * 8);
	if (func == AGG_MIN)
		value[0] = INT64_MAX;
	if (func == AGG_MAX)
		value[0] = (uint64_t)INT64_MIN;
	if (func == AGG_LQUANTIZE || func == AGG_LLQUANTIZE)
		value[0] = param;
}

void
agg_merge(uint32_t func, uint32_t words, uint64_t *dst, const uint64_t *src)
{
	int64_t a = (int64_t)dst[0], b = (int64_t)src[0];

	if (func == AGG_MIN || func == AGG_MAX) {
		dst[0] = (uint64_t)((func == AGG_MIN) == (a < b) ? a : b);
		return;
	}
	bool param = func == AGG_LQUANTIZE || func == AGG_LLQUANTIZE;
	for (uint32_t i = param; i < words; i++)
		dst[i] += src[i]; /* test sums of squares fit the low word */
}

/* A new entry with nothing added: the arithmetic is the machine's. */
void
agg_update(const struct region *store, struct lane *l,
    const struct img_agg *agg, const void *key, int64_t value,
    int64_t increment)
{
	uint32_t *used = region_at(store, l->agg_ref, 8);
	uint32_t room = ROUND_UP(agg->key_size, 8);
	uint32_t size =
	    (uint32_t)sizeof(struct agg_entry) + room + agg->words * 8;
	struct agg_entry *e = region_at(store, l->agg_ref + 8 + *used, size);

	*e = (struct agg_entry){
		.id = agg->id, .key_size = agg->key_size, .words = agg->words
	};
	memset(e->data, 0, room);
	memcpy(e->data, key, agg->key_size);
	agg_zero(agg->func, agg->param, agg->words,
	    (uint64_t *)(void *)(e->data + room));
	*used += size;
}

const struct agg_entry *
agg_next(const struct region *store, const struct lane *l, uint32_t *cookie)
{
	uint32_t ref = l->agg_ref & ~7U;
	const uint32_t *used = region_at(store, ref, 8);
	uint64_t at = (uint64_t)ref + 8 + *cookie;

	if (used == NULL || *cookie >= *used || at > UINT32_MAX)
		return NULL;
	const struct agg_entry *e = region_at(store, (uint32_t)at, sizeof(*e));
	if (e == NULL)
		return NULL;
	uint64_t size =
	    sizeof(*e) + ROUND_UP((uint64_t)e->key_size, 8) + e->words * 8ULL;
	if (region_at(store, (uint32_t)at, size) == NULL)
		return NULL;
	*cookie += (uint32_t)size;
	return e;
}

void
agg_reset(const struct region *store, struct lane *l)
{
	uint32_t *used = region_at(store, l->agg_ref & ~7U, 8);

	if (used != NULL)
		*used = 0;
}

#endif
