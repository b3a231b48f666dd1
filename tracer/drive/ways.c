/*
 * Ways; see ways.h.  The reasons come in the order in which tracer/sites/jumps.c
 * looks for them.
 */
#include "tracer/drive/ways.h"

#include <string.h>

#include "dlang/base/str.h"
#include "dlang/image/image.h"
#include "dlang/image/inside.h"
#include "dlang/needs.h"
#include "dlang/prog.h"
#include "symbols/addrspace.h"
#include "tracer/base/probe.h"
#include "tracer/base/provider.h"
#include "tracer/base/state.h"
#include "tracer/fast/fast.h"
#include "tracer/ptrace/proc.h"
#include "tracer/ptrace/super.h"
#include "tracer/sites/jumps.h"

/* Places for one reason; why is NULL: those by jump. */
struct way {
	const char *why;
	unsigned n;
};

struct ways {
	const struct space *space; /* the one that is looked at */
	VEC(uint64_t) addr;        /* its places */
	VEC(enum probe_passes) passes;
	VEC(struct way) list;
};

/* ---- clauses ---- */

static bool
may_be_inside(const struct state *st, const struct prog_clause *c,
    bool of_error, struct str *why)
{
	uint32_t needs = c->pred != NULL ? c->pred->needs : 0;
	const uint32_t *pred = c->pred != NULL && !of_error ? &needs : NULL;
	struct str words = { 0 };
	bool may = inside_needs(image_is_outside(c, &st->opts),
	    needs | needs_of_acts(c), pred, &words);

	if (!may)
		str_printf(
		    why, "%s%s", of_error ? "ERROR: " : "", str_c(&words));
	str_fini(&words);
	return may;
}

/* Can the clauses that match p, and those of ERROR, run inside?  Else the first
 * reason is appended to *why. */
static bool
may_clauses(const struct state *st, const struct probe *p, struct str *why)
{
	const struct probe *error = probe_by_id(&st->probes, 3);
	const struct probe *const both[] = { p, error };

	for (size_t b = 0; b < ARRAY_SIZE(both); b++)
		vec_foreach(prog, &st->compiled.progs)
			for (size_t i = 0; i < (*prog)->nclauses; i++) {
				const struct prog_clause *c =
				    (*prog)->clauses[i];
				if (probe_matches(both[b], &c->desc) &&
				    !may_be_inside(st, c, b == 1, why))
					return false;
			}
	return true;
}

/* ---- places ---- */

static void
add_place(
    void *ctx, const struct load *l, uint64_t addr, enum probe_passes passes)
{
	struct ways *w = ctx;

	if (addrspace_load_at(w->space->as, addr) != l)
		return;
	*vec_push(&w->addr) = addr;
	*vec_push(&w->passes) = passes;
}

static void
count(struct ways *w, const char *why)
{
	vec_foreach(way, &w->list)
		if (way->why == why ||
		    (why != NULL && way->why != NULL &&
			strcmp(way->why, why) == 0)) {
			way->n++;
			return;
		}
	*vec_push(&w->list) = (struct way){ why, 1 };
}

static void
look_in(struct ways *w, struct state *st, struct space *sp,
    const struct probe *p, const char *clauses)
{
	w->space = sp;
	vec_clear(&w->addr);
	vec_clear(&w->passes);
	p->provider->sites(p, add_place, w);
	if (w->addr.len == 0)
		return;
	const char **why = mem_zalloc(w->addr.len * sizeof(*why));
	jumps_why_not(st, sp, w->addr.at, w->addr.len, why);
	for (size_t i = 0; i < w->addr.len; i++)
		count(w,
		    w->passes.at[i] == PASSES_SOME ?
			"the probe does not fire at each pass" :
			why[i] != NULL ? why[i] :
					 clauses);
	mem_free(why);
}

void
ways_text(
    struct state *st, const struct probe *p, const char *indent, struct str *to)
{
	struct ways w = { 0 };
	struct proc *proc = NULL;
	struct str why = { 0 };

	if (!fast_is_wanted(st) || p->provider->sites == NULL)
		return;
	const char *clauses = may_clauses(st, p, &why) ? NULL : str_c(&why);
	while ((proc = super_next(st->super, proc)) != NULL)
		if (proc->space->as != NULL && proc->space->procs.at[0] == proc)
			look_in(&w, st, proc->space, p, clauses);
	vec_foreach(way, &w.list)
		if (way->why == NULL)
			str_printf(to, "%s%u by jump\n", indent, way->n);
	vec_foreach(way, &w.list)
		if (way->why != NULL)
			str_printf(
			    to, "%s%u by trap: %s\n", indent, way->n, way->why);
	vec_fini(&w.addr);
	vec_fini(&w.passes);
	vec_fini(&w.list);
	str_fini(&why);
}
