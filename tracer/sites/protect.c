/*
 * Who is exposed, who is told, and what becomes of it; see protect.h.
 */
#include "tracer/sites/protect.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "dlang/base/log.h"
#include "inject/tracepoint.h"
#include "tracer/survive/guardian.h"
#include "tracer/survive/semaphore.h"
#include "tracer/sites/site.h"
#include "tracer/base/state.h"
#include "tracer/ptrace/super.h"
#include "tracer/survive/trapguard.h"

/* How soon it is tried again; for how long before tracing begins without.  A try
 * takes as long as a thread that cannot be stopped is waited for. */
#define AGAIN_NS 20000000
#define START_MS 2000

static bool
unprotected(const struct state *st)
{
	return option_get(&st->opts, OPT_UNPROTECTED) != 0;
}

bool
protect_allows(const struct state *st, const struct space *sp)
{
	return sp->exposed == 0 || unprotected(st);
}

static pid_t
pid_of(const struct space *sp)
{
	return sp->procs.len > 0 ? sp->procs.at[0]->pid : 0;
}

/* Does somebody miss what cannot be changed? */
static bool
matters(const struct space *sp)
{
	return sp->probed || sp->sems != NULL;
}

void
protect_say(struct state *st, struct space *sp)
{
	if (sp->exposed_said)
		return;
	sp->exposed_said = true;
	if (unprotected(st))
		state_message(st,
		    "pid %d is traced without protection: %s (%s): if dtrap is "
		    "killed, it dies",
		    (int)pid_of(sp), sp->exposed_why, strerror(-sp->exposed));
	else
		state_message(st,
		    "pid %d cannot be protected from a sudden end of dtrap: %s "
		    "(%s): no probe in its text fires; -x unprotected traces "
		    "it all the same",
		    (int)pid_of(sp), sp->exposed_why, strerror(-sp->exposed));
}

static bool
is_wanted_by_name(const struct space *sp)
{
	vec_foreach(p, &sp->procs)
		if ((*p)->target || (*p)->found)
			return true;
	return false;
}

static void
let_go(struct state *st, struct space *sp)
{
	state_message(st,
	    "pid %d is let go: it cannot be protected from a sudden end of "
	    "dtrap: %s (%s); -x unprotected traces it all the same",
	    (int)pid_of(sp), sp->exposed_why, strerror(-sp->exposed));
	sp->refs++;
	while (sp->procs.len > 0)
		st->drive->let_go(st, sp->procs.at[0]);
	space_leave(sp, NULL);
}

static struct space *
next_exposed(struct state *st, struct space *after)
{
	struct proc *p = NULL;
	bool passed = after == NULL;

	while ((p = super_next(st->super, p)) != NULL) {
		if (passed && p->space != after && p->space->exposed != 0)
			return p->space;
		passed |= p->space == after;
	}
	return NULL;
}

static void on_again(struct state *st, void *arg, uint64_t late);

/* 0: no more. */
static void
try_again(struct state *st, uint64_t period)
{
	if (!st->protect_timer && period != 0)
		timer_add(&st->timers, period, on_again, NULL);
	else if (st->protect_timer)
		timer_set_period(&st->timers, on_again, NULL, period);
	st->protect_timer |= period != 0;
}

static void
on_again(struct state *st, void *arg, uint64_t late)
{
	struct space *sp = NULL, *next;

	for (sp = next_exposed(st, NULL); sp != NULL; sp = next) {
		next = next_exposed(st, sp);
		if (trapguard_may_pass(sp->exposed))
			sites_commit(st, sp);
		if (sp->exposed == 0 || !matters(sp))
			continue;
		if (is_wanted_by_name(sp))
			protect_say(st, sp);
		else if (!unprotected(st))
			let_go(st, sp);
	}
	bool more = false;
	for (sp = next_exposed(st, NULL); sp != NULL; sp = next_exposed(st, sp))
		more |= trapguard_may_pass(sp->exposed);
	if (!more)
		try_again(st, 0);
}

void
protect_space(struct state *st, struct space *sp)
{
	int was = sp->exposed;

	sp->exposed = trapguard_begin(sp, tptable_near(sp->tab),
	    was != 0 && !unprotected(st), &sp->exposed_why);
	if (sp->exposed != 0)
		LOG("protect", "%d: %s: %s", (int)pid_of(sp), sp->exposed_why,
		    strerror(-sp->exposed));
	if (sp->exposed == 0 && sp->exposed_said) {
		sp->exposed_said = false;
		state_message(st, "pid %d is protected again", (int)pid_of(sp));
	}
	tracepoint_suspend(sp->tab, !protect_allows(st, sp));
	if (sp->exposed == 0)
		return;
	if (unprotected(st)) {
		tracepoint_unlisted(sp->tab);
		if (matters(sp))
			protect_say(st, sp);
		return;
	}
	semaphores_lower(sp);
	try_again(st, AGAIN_NS);
}

void
protect_fork(struct state *st, struct space *sp, uint64_t area)
{
	sp->exposed_why = "the guardian, a process that would put its text "
			  "back, has no hold of it";
	sp->exposed = guardian_add(sp, area);
	if (sp->exposed != 0)
		try_again(st, AGAIN_NS);
}

/* ---- the begin ---- */

const char *
protect_start(struct state *st)
{
	static char text[256];
	const struct timespec nap = { 0, AGAIN_NS };
	struct space *sp;

	uint64_t begin = sigtrap_now_ms();

	while (!unprotected(st) && sigtrap_now_ms() - begin < START_MS) {
		bool passing = false;
		for (sp = next_exposed(st, NULL); sp != NULL;
		     sp = next_exposed(st, sp)) {
			if (!matters(sp))
				continue;
			if (trapguard_may_pass(sp->exposed))
				sites_commit(st, sp);
			passing |= trapguard_may_pass(sp->exposed);
		}
		if (!passing)
			break;
		st->drive->pending(st);
		nanosleep(&nap, NULL);
	}
	for (sp = next_exposed(st, NULL); sp != NULL && !unprotected(st);
	     sp = next_exposed(st, sp)) {
		if (!matters(sp) || trapguard_may_pass(sp->exposed))
			continue;
		snprintf(text, sizeof(text),
		    "pid %d cannot be protected from a sudden end of dtrap: %s "
		    "(%s); -x unprotected traces it all the same",
		    (int)pid_of(sp), sp->exposed_why, strerror(-sp->exposed));
		return text;
	}
	return NULL;
}

/* ---- what was lost ---- */

/* All of it is looked at once more, and text put back where it is missing. */
static void
look_again(struct state *st)
{
	struct proc *p = NULL;

	while ((p = super_next(st->super, p)) != NULL)
		if (p->space->tab != NULL)
			sites_commit(st, p->space);
}

static void
look_at_handlers(struct state *st)
{
	if (st->super->unguarded == 0)
		return;
	st->super->unguarded = 0;
	state_message(st,
	    "a process has changed what it does on SIGTRAP in a way that is not "
	    "seen: for a while nothing protected it from a sudden end of dtrap");
	look_again(st);
}

void
protect_look(struct state *st)
{
	struct proc *p = NULL;

	look_at_handlers(st);
	if (!guardian_stirred() || guardian_is_alive())
		return;
	int r = guardian_revive(st->super);
	state_message(st, "the guardian was killed: %s",
	    r == 0 ? "another has taken its place" : "no other can be had now");
	if (r == 0)
		return;
	while ((p = super_next(st->super, p)) != NULL)
		guardian_drop(p->space);
	look_again(st);
}
