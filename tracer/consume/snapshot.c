/*
 * From the lanes' aggregations to the consumer's: what has been added since they
 * were read last (dlang/vm/agg.h has the picture).
 *
 * Of each area there is a copy, at the same offsets, as it was read: the sizes
 * and keys of entries are read once, when an entry is new, so that a target
 * which scribbles there changes values and no more.
 */
#include <string.h>

#include "dlang/vm/agg.h"
#include "tracer/consume/consume_impl.h"

/* How often a value is read again that changes meanwhile.  After that it waits
 * for the next time: nothing is lost. */
#ifdef VM_STEP
#define TRIES 2
#else
#define TRIES 100
#endif

static const struct agg_view *
area_of(const struct consume *c, size_t lane, uint32_t area)
{
	return &c->lanes.at[lane].aggs[area];
}

static struct snapshot *
snapshot_of(struct consume *c, size_t lane)
{
	while (c->snapshots.len < c->lanes.len)
		*vec_push(&c->snapshots) = (struct snapshot){ 0 };
	return &c->snapshots.at[lane];
}

static void
forget(struct snapshot *s, uint32_t area)
{
	mem_free(s->copy[area]);
	s->copy[area] = NULL;
	s->read[area] = 0;
}

void
snapshots_fini(struct consume *c)
{
	vec_foreach(s, &c->snapshots)
		for (uint32_t area = 0; area < 2; area++)
			forget(s, area);
	vec_fini(&c->snapshots);
}

/* ---- one entry ---- */

/* The copy of an entry.  What leads to the next one in its bucket is of no use
 * here: instead, how many bytes it takes. */
#define SIZE(e) (e)->next_ref

static const struct prog_agg *
definition(const struct consume *c, uint32_t id)
{
	const struct prog_globals *g = c->env.globals;

	return id == 0 || id > g->aggs.len ? NULL : g->aggs.at[id - 1];
}

/* Sizes and key of a new entry of `size' bytes; id 0 where they are not those
 * of its aggregation. */
static void
copy_new(const struct consume *c, struct agg_entry *copy,
    const struct agg_entry *e, uint32_t size)
{
	const struct prog_agg *def;

	memcpy(copy, e, sizeof(*copy));
	SIZE(copy) = size;
	copy->updates = 0;
	def = definition(c, copy->id);
	if (def == NULL || copy->key_size != def->key_size ||
	    copy->words != def->words ||
	    size != agg_entry_size(def->key_size, def->words)) {
		copy->id = 0;
		return;
	}
	size_t key = ROUND_UP((size_t)def->key_size, 8);
	memcpy(copy->data, e->data, key);
	agg_zero(def->func, def->param, def->words,
	    (uint64_t *)(void *)(copy->data + key));
}

/* The value as it is between two updates; false when there was no such moment.
 * In an area that nobody writes there is nothing to wait for. */
static bool
read_value(const struct lane_view *v, bool written, const struct agg_entry *e,
    const uint8_t *from, uint64_t *value, uint32_t words, uint32_t *updates)
{
	for (unsigned i = 0; i < TRIES; i++) {
		uint32_t busy =
		    __atomic_load_n(&v->lane->agg_busy, __ATOMIC_ACQUIRE);
		*updates = __atomic_load_n(&e->updates, __ATOMIC_RELAXED);
		STEP();
		for (uint32_t w = 0; w < words; w++)
			value[w] = __atomic_load_n(
			    (const uint64_t *)(const void *)from + w,
			    __ATOMIC_ACQUIRE);
		if (!written)
			return true;
		if (!(busy & 1) &&
		    __atomic_load_n(&v->lane->agg_busy, __ATOMIC_RELAXED) ==
			busy)
			return true;
	}
	return false;
}

/* Hand on what was added; was anything? */
static bool
read_entry(struct consume *c, const struct lane_view *v, bool written,
    struct agg_entry *copy, const struct agg_entry *e)
{
	const struct prog_agg *def = definition(c, copy->id);
	uint32_t updates;

	if (def == NULL ||
	    __atomic_load_n(&e->updates, __ATOMIC_RELAXED) == copy->updates)
		return false;
	size_t key = ROUND_UP((size_t)def->key_size, 8);
	size_t bytes = (size_t)def->words * 8;
	uint8_t *work = mem_alloc(key + 2 * bytes);
	uint64_t *now = (void *)(work + key);
	uint64_t *added = (void *)(work + key + bytes);
	uint64_t *before = (void *)(copy->data + key);
	bool any =
	    read_value(v, written, e, e->data + key, now, def->words, &updates);
	if (any) {
		memcpy(work, copy->data, key); /* aggs_add() may change it */
		agg_difference(def->func, def->words, added, now, before);
		aggs_add(&c->aggs, copy->id, work, copy->cpu, added);
		memcpy(before, now, bytes);
		copy->updates = updates;
	}
	mem_free(work);
	return any;
}

/* ---- one area ---- */

static bool
read_area(struct consume *c, size_t lane, uint32_t area)
{
	const struct lane_view *v = &c->lanes.at[lane];
	const struct agg_view *a = area_of(c, lane, area);
	struct snapshot *s = snapshot_of(c, lane);
	bool written = !c->over && area == s->area;
	uint32_t at = a->first - a->ref;
	const struct agg_entry *e;
	bool any = false;

	if (s->read[area] == 0)
		s->read[area] = at;
	while (at < s->read[area]) {
		struct agg_entry *copy = (void *)(s->copy[area] + at);
		any |= read_entry(
		    c, v, written, copy, (const void *)(v->base + a->ref + at));
		at += SIZE(copy);
	}
	for (uint32_t next = a->ref + at;
	     (e = agg_next(v, area, &next)) != NULL; at = next - a->ref) {
		if (s->copy[area] == NULL)
			s->copy[area] = mem_zalloc(a->end - a->ref);
		struct agg_entry *copy = (void *)(s->copy[area] + at);
		copy_new(c, copy, e, next - a->ref - at);
		any |= read_entry(c, v, written, copy, e);
		s->read[area] = next - a->ref;
	}
	return any;
}

/* ---- going over to the other area ---- */

/* The area that was left is read a last time, once its writer has gone. */
static bool
area_left(struct consume *c, size_t lane)
{
	struct snapshot *s = snapshot_of(c, lane);
	uint32_t old = s->area ^ 1;

	if (!s->leaving)
		return true;
	if (!c->over && agg_is_busy(&c->lanes.at[lane], &s->since))
		return false;
	read_area(c, lane, old);
	forget(s, old);
	s->leaving = false;
	return true;
}

static void
flip(struct consume *c, size_t lane)
{
	struct snapshot *s = snapshot_of(c, lane);

	if (!area_left(c, lane))
		return;
	s->area ^= 1;
	agg_flip(&c->lanes.at[lane], s->area);
	s->leaving = true;
	s->since = 0;
	STEP();
	if (c->env.barrier != NULL)
		c->env.barrier();
	area_left(c, lane);
}

void
snapshots_flip(struct consume *c)
{
	for (size_t i = 0; i < c->lanes.len; i++)
		if (area_of(c, i, 0)->hdr != NULL)
			flip(c, i);
}

bool
snapshots_read(struct consume *c)
{
	bool any = false;

	for (size_t i = 0; i < c->lanes.len; i++) {
		if (area_of(c, i, 0)->hdr == NULL)
			continue;
		area_left(c, i);
		any |= read_area(c, i, snapshot_of(c, i)->area);
		if (agg_fill(&c->lanes.at[i]) > CONSUME_AGGS_AT)
			flip(c, i);
	}
	return any;
}
