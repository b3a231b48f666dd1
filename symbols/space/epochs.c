/*
 * Loads and stamps over time; see epochs.h.
 *
 * Invariant: under one stamp no two loads were at one address, and the spans
 * of a load do not touch within a stamp, so that a plug-in that comes and goes
 * costs nothing as long as it is alone in its place.
 */
#include "symbols/epochs.h"

#include "symbols/addrspace.h"

/* A program that never stops swapping plug-ins is not to fill memory with its
 * history: the names of its last stamp are then good enough. */
#define EPOCHS_MOST 16384

void
epochs_init(struct epochs *e, uint32_t stamp, uint32_t generation)
{
	*e = (struct epochs){ 0 };
	epochs_begin(e, stamp, generation);
}

void
epochs_fini(struct epochs *e)
{
	vec_fini(&e->spans);
	vec_fini(&e->list);
}

static struct epoch_span *
span_last(const struct epochs *e, const struct load *l)
{
	for (size_t i = e->spans.len; i > 0; i--)
		if (e->spans.at[i - 1].load == l)
			return &e->spans.at[i - 1];
	return NULL;
}

void
epochs_gone(struct epochs *e, const struct load *l, uint32_t generation)
{
	struct epoch_span *s = span_last(e, l);

	if (s != NULL && s->to == UINT32_MAX)
		s->to = generation;
}

bool
epochs_contested(const struct epochs *e, const struct load *l)
{
	uint32_t since = e->list.at[e->list.len - 1].from;

	if (e->list.len >= EPOCHS_MOST)
		return false;
	vec_foreach(s, &e->spans)
		if (s->load != l && s->to != UINT32_MAX && s->to > since &&
		    s->load->start < l->end && l->start < s->load->end)
			return true;
	return false;
}

void
epochs_begin(struct epochs *e, uint32_t stamp, uint32_t generation)
{
	*vec_push(&e->list) =
	    (struct epoch){ .stamp = stamp, .from = generation };
}

void
epochs_came(struct epochs *e, struct load *l, uint32_t generation)
{
	struct epoch_span *s = span_last(e, l);

	if (s != NULL && s->to > e->list.at[e->list.len - 1].from) {
		s->to = UINT32_MAX;
		return;
	}
	if (e->spans.len >= 4 * EPOCHS_MOST)
		return;
	*vec_push(&e->spans) = (struct epoch_span){
		.load = l, .from = generation, .to = UINT32_MAX
	};
}

uint32_t
epochs_now(const struct epochs *e)
{
	return e->list.at[e->list.len - 1].stamp;
}

uint32_t
epochs_first(const struct epochs *e)
{
	return e->list.at[0].stamp;
}

/* Stamps ascend. */
static size_t
epoch_index(const struct epochs *e, uint32_t stamp)
{
	size_t lo = 0, hi = e->list.len;

	while (lo + 1 < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (e->list.at[mid].stamp <= stamp)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

struct load *
epochs_load(const struct epochs *e, uint32_t stamp, uint64_t addr)
{
	size_t i = epoch_index(e, stamp);
	uint32_t from = e->list.at[i].from;
	uint32_t to = i + 1 < e->list.len ? e->list.at[i + 1].from : UINT32_MAX;
	const struct epoch_span *then = NULL, *later = NULL;

	vec_foreach(s, &e->spans) {
		if (addr < s->load->start || addr >= s->load->end)
			continue;
		if (s->from >= to) {
			if (later == NULL || s->from < later->from)
				later = s;
		} else if (s->to > from &&
		    (then == NULL || s->load->start > then->load->start)) {
			then = s;
		}
	}
	then = then != NULL ? then : later;
	return then != NULL ? then->load : NULL;
}
