/*
 * Enabling; see enable.h.
 */
#include "tracer/program/enable.h"

#include <errno.h>
#include <string.h>

#include "dlang/cc/cc.h"
#include "dlang/image/image.h"
#include "dlang/prog.h"
#include "tracer/base/probe.h"
#include "tracer/base/progress.h"
#include "tracer/names/prototype.h"
#include "tracer/sites/site.h"
#include "tracer/base/provider.h"
#include "tracer/base/state.h"
#include "tracer/program/typed_use.h"

static int
provide(struct state *st, const struct probe_desc *pd, const struct span *at,
    struct diags *d)
{
	for (const struct provider *const *p = st->providers; *p != NULL; p++) {
		int error =
		    (*p)->provide != NULL ? (*p)->provide(st, pd, at, d) : 0;
		if (error != 0)
			return error;
	}
	return 0;
}

int64_t
enable_provide(struct state *st, const struct probe_desc *pd,
    const struct span *at, struct diags *d)
{
	int64_t n = provide(st, pd, at, d);

	if (n < 0)
		return n;
	vec_foreach(p, &st->probes.list)
		n += probe_matches(*p, pd);
	return n;
}

static uint32_t
image_flags(const struct probe *p)
{
	if (strcmp(p->provider->name, "dtrace") != 0)
		return 0;
	if (strcmp(p->name, "BEGIN") == 0)
		return IMG_PROBE_BEGIN;
	return strcmp(p->name, "END") == 0 ? IMG_PROBE_END : IMG_PROBE_ERROR;
}

/* Does the clause also fire on p in children? */
static bool
follows(const struct prog_clause *c, const struct probe *p)
{
	const struct provider *prov = p->provider;

	return prov->follows && (prov->aside == NULL || !prov->aside(p)) &&
	    (!prov->per_process || c->desc.family);
}

static bool
follow_none(const struct state *st)
{
	const char *text = st->opts.text[OPT_FOLLOW];

	return text != NULL && strcmp(text, "none") == 0;
}

/* Does this run have the clause?  A program of many hosts is divided. */
static bool
is_ours(const struct state *st, const struct prog_clause *c)
{
	if (c->elsewhere)
		return false;
	return st->where == WHERE_ALL ||
	    where_is_merged(&c->desc) == (st->where == WHERE_MERGE);
}

/* Create an ECB: clause c on probe p. */
static int
attach(struct state *st, const struct prog_clause *c, struct probe *p)
{
	bool follow = follows(c, p);

	st->follow |= follow && !follow_none(st);
	if (p->image_ref == 0)
		p->image_ref = image_add_probe(st->image, p->id, p->prov,
		    p->mod, p->func, p->name, image_flags(p));
	if (p->image_ref == 0 ||
	    image_add_ecb(st->image, p->image_ref, c->global_index,
		p->provider->per_process && !follow ? IMG_ECB_OWN : 0) == 0)
		return -ENOSPC;
	return 0;
}

uint64_t
enable_end_size(const struct state *st)
{
	const struct prog_globals *g = cc_globals(st->compiled.cc);
	uint64_t size = 0;

	vec_foreach(p, &st->probes.list) {
		if (image_flags(*p) != IMG_PROBE_END)
			continue;
		vec_foreach(c, &g->clauses)
			if (probe_matches(*p, &(*c)->desc) && is_ours(st, *c))
				size += ROUND_UP((*c)->rec_size, REC_ALIGN);
	}
	return size;
}

/* In the order of clauses, so that the ECBs of a probe are in program order. */
static int
attach_clauses(struct state *st, size_t from, size_t to)
{
	const struct prog_globals *g = cc_globals(st->compiled.cc);

	vec_foreach(c, &g->clauses) {
		for (size_t i = from; i < to; i++) {
			struct probe *p = st->probes.list.at[i];
			if (!probe_matches(p, &(*c)->desc) || !is_ours(st, *c))
				continue;
			if (!typed_use_fits(st, &(*c)->desc, p)) {
				prototype_refused(st, p);
				continue;
			}
			int error = attach(st, *c, p);
			if (error != 0)
				return error;
		}
	}
	return 0;
}

static bool
matches_any(const struct state *st, const struct probe_desc *pd)
{
	vec_foreach(p, &st->probes.list)
		if (probe_matches(*p, pd))
			return true;
	return false;
}

/* Does the program have a description of a process's descendants?  If it
 * matches nothing yet, it may match in a program that a child executes. */
static bool
may_match_later(const struct state *st)
{
	const struct prog_globals *g = cc_globals(st->compiled.cc);

	vec_foreach(c, &g->clauses)
		if ((*c)->desc.family && !matches_any(st, &(*c)->desc))
			return true;
	return false;
}

/* Part of the run. */
struct applied {
	size_t probes; /* probes that were examined */
	bool full;     /* the user knows that there are too many */
};

static struct applied *
applied_of(struct state *st)
{
	static const struct part part = { .size = sizeof(struct applied) };

	return part_of(&st->parts, &part);
}

/* For probes that were published since the last call: attach clauses and queue
 * sites. */
static int
apply(struct state *st)
{
	struct applied *applied = applied_of(st);
	size_t from = applied->probes, to = st->probes.list.len;
	int error = attach_clauses(st, from, to);

	for (size_t i = from; i < to; i++) {
		struct probe *p = st->probes.list.at[i];
		progress_part(st, i - from, to - from, "enabling", "probes");
		if (p->image_ref != 0 && p->provider->enable != NULL)
			p->provider->enable(st, p);
	}
	applied->probes = to;
	loads_matched(st);
	return error;
}

int
enable_apply(struct state *st)
{
	int error = apply(st);

	st->follow |= may_match_later(st) && !follow_none(st);
	return error;
}

void
enable_again(struct state *st)
{
	const struct prog_globals *g = cc_globals(st->compiled.cc);
	struct applied *applied = applied_of(st);

	vec_foreach(c, &g->clauses)
		provide(st, &(*c)->desc, NULL, NULL);
	int error = apply(st);
	sites_commit_queued(st);
	if (error != 0 && !applied->full) {
		applied->full = true;
		state_message(st,
		    "too many probes: some that appeared while "
		    "tracing are not enabled");
	}
}
