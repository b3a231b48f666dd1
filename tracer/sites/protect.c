/*
 * Exposed spaces: messages to the user, and further tries; see protect.h.
 */
#include "tracer/sites/protect.h"

#include <string.h>

#include "dlang/base/log.h"
#include "inject/tracepoint.h"
#include "tracer/survive/semaphore.h"
#include "tracer/ptrace/proc.h"
#include "tracer/base/state.h"
#include "tracer/ptrace/super.h"
#include "tracer/survive/trapguard.h"

bool
protect_is_off(const struct state *st)
{
	return option_get(&st->opts, OPT_UNPROTECTED) != 0;
}

bool
protect_allows(const struct state *st, const struct space *sp)
{
	return sp->exposed == 0 || protect_is_off(st);
}

pid_t
protect_pid(const struct space *sp)
{
	return sp->procs.len > 0 ? sp->procs.at[0]->pid : 0;
}

bool
protect_matters(const struct space *sp)
{
	return sp->probed || sp->sems != NULL;
}

void
protect_say(struct state *st, struct space *sp)
{
	if (sp->exposed_said)
		return;
	sp->exposed_said = true;
	if (protect_is_off(st))
		state_message(st,
		    "pid %d is traced without protection: %s (%s): if dtrap "
		    "is killed, the process dies too",
		    (int)protect_pid(sp), sp->exposed_why,
		    strerror(-sp->exposed));
	else
		state_message(st,
		    "pid %d cannot be protected from a sudden end of dtrap: "
		    "%s (%s): probes in its code do not fire; -x unprotected "
		    "traces it anyway",
		    (int)protect_pid(sp), sp->exposed_why,
		    strerror(-sp->exposed));
}

void
protect_expose(struct space *sp, int error, const char *why)
{
	sp->exposed = error;
	sp->exposed_why = why;
}

void
protect_space(struct state *st, struct space *sp)
{
	const char *why = sp->exposed_why;
	bool bare = sp->exposed != 0 && !protect_is_off(st);

	int error = trapguard_begin(sp, tptable_near(sp->tab), bare, &why);

	protect_expose(sp, error, why);
	if (sp->exposed != 0)
		LOG("protect", "%d: %s: %s", (int)protect_pid(sp),
		    sp->exposed_why, strerror(-sp->exposed));
	if (sp->exposed == 0 && sp->exposed_said) {
		sp->exposed_said = false;
		state_message(
		    st, "pid %d is protected again", (int)protect_pid(sp));
	}
	tracepoint_suspend(sp->tab, !protect_allows(st, sp));
	if (sp->exposed == 0)
		return;
	if (protect_is_off(st)) {
		tracepoint_unlisted(sp->tab);
		if (protect_matters(sp))
			protect_say(st, sp);
		return;
	}
	semaphores_lower(sp);
}

static bool
is_wanted_by_name(const struct space *sp)
{
	vec_foreach(p, &sp->procs)
		if ((*p)->role.named || (*p)->role.found)
			return true;
	return false;
}

static void
let_go(struct state *st, struct space *sp)
{
	state_message(st,
	    "detached from pid %d: it cannot be protected from a sudden end "
	    "of dtrap: %s (%s); -x unprotected traces it anyway",
	    (int)protect_pid(sp), sp->exposed_why, strerror(-sp->exposed));
	space_keep(sp);
	while (sp->procs.len > 0)
		st->drive->let_go(st, sp->procs.at[0]);
	space_leave(sp, NULL);
}

void
protect_still_not(struct state *st, struct space *sp)
{
	if (!protect_matters(sp))
		return;
	if (is_wanted_by_name(sp))
		protect_say(st, sp);
	else if (!protect_is_off(st))
		let_go(st, sp);
}

struct space *
protect_next(struct state *st, struct space *after)
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
