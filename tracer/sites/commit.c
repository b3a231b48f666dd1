/*
 * Writes the queued int3s of a space into its text, now or when the space can
 * be protected; see site.h.
 */
#include "inject/tracepoint.h"
#include "symbols/addrspace.h"
#include "symbols/maps.h"
#include "tracer/base/progress.h"
#include "tracer/base/state.h"
#include "tracer/ptrace/proc.h"
#include "tracer/sites/jumps.h"
#include "tracer/sites/perfmap.h"
#include "tracer/sites/protect.h"
#include "tracer/sites/sigwatch.h"
#include "tracer/sites/site.h"
#include "tracer/survive/semaphore.h"
#include "tracer/survive/trapguard.h"

struct commit_ctx {
	struct state *st;
	struct space *sp;
};

static void
commit_failed(void *ctx, struct tracepoint *tp, const char *why)
{
	struct commit_ctx *c = ctx;
	struct tp_user *u = tp->user;

	if (u == NULL)
		return;
	arrivals_foreach(a, u) if (a->failed != NULL) a->failed(c->sp);
	for (struct site *s = u->sites; s != NULL; s = s->next)
		site_failed(c->st, s->probe, tp->addr, why);
}

/* ---- spaces that cannot be protected yet ---- */

static void on_again(struct state *st, void *arg, uint64_t late);

/* Call on_again() every `period' ns; 0: never. */
static void
try_again(struct state *st, uint64_t period)
{
	static const struct part part = { .size = sizeof(bool) };
	bool *is_set = part_of(&st->parts, &part);

	if (!*is_set && period != 0)
		timer_add(&st->timers, period, on_again, NULL);
	else if (*is_set)
		timer_set_period(&st->timers, on_again, NULL, period);
	*is_set |= period != 0;
}

static void
on_again(struct state *st, void *arg, uint64_t late)
{
	struct space *sp = NULL, *next;

	for (sp = protect_next(st, NULL); sp != NULL; sp = next) {
		next = protect_next(st, sp);
		if (trapguard_may_pass(sp->exposed))
			sites_commit(st, sp);
		if (sp->exposed != 0)
			protect_still_not(st, sp);
	}
	bool more = false;
	for (sp = protect_next(st, NULL); sp != NULL; sp = protect_next(st, sp))
		more |= trapguard_may_pass(sp->exposed);
	if (!more)
		try_again(st, 0);
}

void
sites_commit_later(struct state *st)
{
	try_again(st, SITES_AGAIN_NS);
}

/* The threads of the space are stopped, and queued int3s are about to be
 * written. */
static void
protect(struct state *st, struct space *sp)
{
	protect_space(st, sp);
	if (!protect_allows(st, sp))
		sites_commit_later(st);
}

/* ---- now ---- */

/* For fewer int3s than this an additional stop takes longer than it saves. */
#define MANY 64

/*
 * Do before sites_commit() what does not need stopped threads.  If there are
 * many int3s, the process is stopped twice, for a short time each: here to map
 * the memory that is needed, and in sites_commit() to write text.  The work
 * between the two is done while the threads run.
 */
static void
prepare(struct state *st, struct space *sp)
{
	if (tptable_queued(sp->tab) || sp->probed)
		sigwatch_look(st, sp);
	if (tptable_arming(sp->tab) < MANY)
		return;
	space_stop(sp);
	protect(st, sp);
	if (protect_allows(st, sp))
		tracepoint_reserve(sp->tab);
	space_resume(sp);
	tracepoint_prepare(sp->tab);
}

/* Is the same file still mapped at the beginning of m? */
static bool
is_there(const struct maps *now, const struct map *m)
{
	const struct map *n = maps_at(now, m->start);

	return n != NULL && n->inode == m->inode && n->dev == m->dev &&
	    n->offset + (m->start - n->start) == m->offset;
}

/*
 * Forget the sites in objects that are no longer mapped.  After munmap() of an
 * object, and before the run-time linker reports that, something else may be
 * mapped at the same address, even memory of dtrap.  All threads are stopped.
 */
static void
drop_unmapped(struct state *st, struct space *sp)
{
	const struct maps *then = addrspace_maps(sp->as);
	struct maps now = { 0 };

	if (maps_read(addrspace_pid(sp->as), &now) < 0)
		return;
	vec_foreach(m, &then->list)
		if (m->exec && m->inode != 0 && !is_there(&now, m))
			sites_unmap(st, sp, m->start, m->end);
	maps_fini(&now);
}

void
sites_commit(struct state *st, struct space *sp)
{
	if (sp->procs.len > 0 && tptable_queued(sp->tab))
		progress(
		    st, "breakpoints of process %d", (int)sp->procs.at[0]->pid);
	prepare(st, sp);
	jumps_prepare(st, sp);
	space_stop(sp);
	if (tptable_queued(sp->tab))
		drop_unmapped(st, sp);
	if (tptable_queued(sp->tab) || sp->probed || sp->sems != NULL)
		protect(st, sp);
	bool allowed = protect_allows(st, sp);
	if (allowed && (tptable_queued(sp->tab) || sp->probed))
		sigwatch_begin(st, sp);
	if (allowed)
		semaphores_commit(sp, sp->exposed != 0);
	sp->changes += tptable_queued(sp->tab);
	tracepoint_commit(
	    sp->tab, commit_failed, &(struct commit_ctx){ st, sp });
	/* Without markers nobody answers a program that asks for its action on
	 * SIGTRAP, so the kernel has to have the program's own. */
	if (!allowed)
		vec_foreach(p, &sp->procs)
			trapguard_end(*p);
	jumps_commit(st, sp);
	space_resume(sp);
	perfmap_write(st, sp);
}

static void
commit_spaces(struct state *st, bool (*wanted)(const struct space *))
{
	struct proc *p = NULL;
	VEC(struct space *) done = { 0 };

	while ((p = super_next(st->super, p)) != NULL) {
		bool seen = p->space->tab == NULL;
		vec_foreach(sp, &done)
			seen |= *sp == p->space;
		if (seen)
			continue;
		*vec_push(&done) = p->space;
		if (wanted == NULL || wanted(p->space))
			sites_commit(st, p->space);
	}
	vec_fini(&done);
}

void
sites_commit_all(struct state *st)
{
	commit_spaces(st, NULL);
}

static bool
is_queued(const struct space *sp)
{
	return tptable_queued(sp->tab) || (sp->probed && !sp->masks_watched);
}

void
sites_commit_queued(struct state *st)
{
	commit_spaces(st, is_queued);
}
