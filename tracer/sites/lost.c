/*
 * Waits for protection before tracing begins, and restores protection that was
 * lost during the trace; see protect.h.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "dlang/base/clock.h"
#include "tracer/base/state.h"
#include "tracer/ptrace/super.h"
#include "tracer/sites/protect.h"
#include "tracer/sites/site.h"
#include "tracer/survive/guardian.h"
#include "tracer/survive/trapguard.h"

/* How long dtrap waits for protection before tracing begins. */
#define START_MS 2000

void
protect_fork(struct state *st, struct space *sp, uint64_t area)
{
	protect_expose(sp, guardian_add(sp, area),
	    "the guardian process, which would restore its code, cannot open "
	    "its memory");
	if (sp->exposed != 0)
		sites_commit_later(st);
}

/* ---- the begin ---- */

const char *
protect_start(struct state *st)
{
	static char text[256];
	const struct timespec nap = { 0, SITES_AGAIN_NS };
	struct space *sp;

	uint64_t begin = clock_coarse_ms();

	while (!protect_is_off(st) && clock_coarse_ms() - begin < START_MS) {
		bool passing = false;
		for (sp = protect_next(st, NULL); sp != NULL;
		     sp = protect_next(st, sp)) {
			if (!protect_matters(sp))
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
	for (sp = protect_next(st, NULL); sp != NULL && !protect_is_off(st);
	     sp = protect_next(st, sp)) {
		if (!protect_matters(sp) || trapguard_may_pass(sp->exposed))
			continue;
		snprintf(text, sizeof(text),
		    "pid %d cannot be protected from a sudden end of dtrap: "
		    "%s (%s); -x unprotected traces it anyway",
		    (int)protect_pid(sp), sp->exposed_why,
		    strerror(-sp->exposed));
		return text;
	}
	return NULL;
}

/* ---- what was lost ---- */

/* Commit all spaces again: each is protected again, or its text is restored. */
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
	    "a process replaced its SIGTRAP handler without dtrap seeing it: "
	    "for a while it was not protected from a sudden end of dtrap");
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
	state_message(st, "the guardian process was killed: %s",
	    r == 0 ? "a new one was started" : "no new one can be started");
	if (r == 0)
		return;
	while ((p = super_next(st->super, p)) != NULL)
		guardian_drop(p->space);
	look_again(st);
}
