/*
 * Adds new data of the lanes' aggregations to the consumer's own
 * (dlang/vm/agg.h has a picture).
 *
 * There is a copy of each area as it was read, at the same offsets. The sizes
 * and keys of an entry are read only once, when it is new. So a target that
 * changes this memory changes only values.
 */
#include <string.h>

#include "dlang/vm/agg.h"
#include "tracer/consume/consume_impl.h"

/* How often a value that changes during the read is read again. After that it
 * is read in the next pass; nothing is lost. */
#ifdef VM_STEP
#define TRIES 2
#else
#define TRIES 100
#endif

static void
forget(struct snapshot *s, uint32_t area)
{
	mem_free(s->copy[area]);
	s->copy[area] = NULL;
	s->read[area] = 0;
}

void
snapshot_forget(struct snapshot *s)
{
	forget(s, 0);
	forget(s, 1);
	*s = (struct snapshot){ 0 };
}

/* ---- one entry ---- */

/* The copy of an entry. The link to the next entry of its bucket is not needed
 * here; in its place is the size of the entry in bytes. */
#define SIZE(e) (e)->next_ref

static const struct prog_agg *
definition(const struct consume *c, uint32_t id)
{
	const struct prog_globals *g = c->env.globals;

	return id == 0 || id > g->aggs.len ? NULL : g->aggs.at[id - 1];
}

/* The sizes and the key of a new entry of `size' bytes. Its id is 0 if these
 * are not those of its aggregation. */
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

/* Read a value between two updates. False: each try was interrupted by an
 * update. An area without a writer needs only one try. */
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

/* Add the difference to the consumer's row. True: there was one. `missed' is
 * set if the value could not be read. */
static bool
read_entry(struct consume *c, const struct lane_view *v, bool written,
    struct agg_entry *copy, const struct agg_entry *e, bool *missed)
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
	} else {
		*missed = true;
	}
	mem_free(work);
	return any;
}

/* ---- one area ---- */

/* `missed' is set if a value could not be read. */
static bool
read_area(struct consume *c, struct feed *src, uint32_t area, bool written,
    bool *missed)
{
	const struct lane_view *v = &src->v;
	const struct agg_view *a = &v->aggs[area];
	struct snapshot *s = &src->snapshot;
	uint32_t at = a->first - a->ref;
	const struct agg_entry *e;
	bool any = false;

	if (s->read[area] == 0)
		s->read[area] = at;
	while (at < s->read[area]) {
		struct agg_entry *copy = (void *)(s->copy[area] + at);
		any |= read_entry(c, v, written, copy,
		    (const void *)(v->base + a->ref + at), missed);
		at += SIZE(copy);
	}
	for (uint32_t next = a->ref + at;
	     (e = agg_next(v, area, &next)) != NULL; at = next - a->ref) {
		if (s->copy[area] == NULL)
			s->copy[area] = mem_zalloc(a->end - a->ref);
		struct agg_entry *copy = (void *)(s->copy[area] + at);
		copy_new(c, copy, e, next - a->ref - at);
		any |= read_entry(c, v, written, copy, e, missed);
		s->read[area] = next - a->ref;
	}
	return any;
}

/* ---- going over to the other area ---- */

/* Read an area for the last time, after its writer has left it. */
static bool
area_left(struct consume *c, struct feed *src)
{
	struct snapshot *s = &src->snapshot;
	uint32_t old = s->area ^ 1;
	bool missed = false;

	if (!s->leaving)
		return true;
	if (!c->over && agg_is_busy(&src->v, &s->since))
		return false;
	read_area(c, src, old, false, &missed);
	forget(s, old);
	s->leaving = false;
	return true;
}

/* Switch the writer to the other area. A barrier must follow before area_left()
 * is called. */
static bool
go_over(struct consume *c, struct feed *src)
{
	struct snapshot *s = &src->snapshot;

	if (!area_left(c, src))
		return false;
	s->area ^= 1;
	agg_flip(&src->v, s->area);
	s->leaving = true;
	s->since = 0;
	STEP();
	return true;
}

static void
barrier(struct consume *c)
{
	/* The first are the tracer's own. */
	if (c->env.barrier != NULL && c->lanes.len > 1)
		c->env.barrier();
	vec_foreach(l, &c->lanes)
		for (uint32_t i = 0; i < (*l)->n; i++)
			area_left(c, &(*l)->at[i]);
}

static bool
has_aggs(const struct feed *src)
{
	return src->v.aggs[0].hdr != NULL;
}

void
snapshots_flip(struct consume *c)
{
	bool any = false;

	vec_foreach(l, &c->lanes)
		for (uint32_t i = 0; i < (*l)->n; i++)
			if (has_aggs(&(*l)->at[i]))
				any |= go_over(c, &(*l)->at[i]);
	if (any)
		barrier(c);
}

/* Skips a lane that was not written to since it was read completely. */
static bool
read_lane(struct consume *c, struct feed *src)
{
	struct snapshot *s = &src->snapshot;
	uint32_t busy =
	    __atomic_load_n(&src->v.lane->agg_busy, __ATOMIC_ACQUIRE);
	bool missed = false;

	if (!c->over && busy == s->seen && !s->leaving)
		return false;
	area_left(c, src);
	bool any = read_area(c, src, s->area, !c->over, &missed);
	s->seen = missed || busy & 1 ? 1 : busy;
	return any;
}

bool
snapshots_read(struct consume *c)
{
	bool any = false, over = false;

	vec_foreach(l, &c->lanes)
		for (uint32_t i = 0; i < (*l)->n; i++) {
			struct feed *src = &(*l)->at[i];
			if (!has_aggs(src))
				continue;
			any |= read_lane(c, src);
			if (agg_fill(&src->v) > CONSUME_AGGS_AT)
				over |= go_over(c, src);
		}
	if (over)
		barrier(c);
	return any;
}

void
snapshot_end(struct consume *c, struct feed *src)
{
	struct snapshot *s = &src->snapshot;
	bool missed = false;

	if (!has_aggs(src))
		return;
	if (s->leaving)
		read_area(c, src, s->area ^ 1, false, &missed);
	read_area(c, src, s->area, false, &missed);
	snapshot_forget(s);
	agg_flip(&src->v, 1);
	agg_flip(&src->v, 0);
	__atomic_store_n(&src->v.lane->agg_busy, 0, __ATOMIC_RELAXED);
}

void
consume_aggs_due(struct consume *c)
{
	int64_t rate = option_get(c->env.opts, OPT_AGGRATE);

	if (rate <= 0 || c->aggs_at == 0 ||
	    consume_now() - c->aggs_at >= (uint64_t)rate)
		consume_aggs(c);
}

void
consume_aggs(struct consume *c)
{
	if (snapshots_read(c))
		c->aggs_at = consume_now();
}
