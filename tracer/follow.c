/*
 * Following; see follow.h.
 *
 * A child that is followed is watched, not changed: its copy of the memory is
 * cleaned of its parent's tracepoints, and none of its own are put there.  So
 * nothing tells when it maps a library: its objects are looked at when somebody
 * asks for names in it.
 */
#include "tracer/follow.h"

#include <string.h>

#include "inject/tracepoint.h"
#include "symbols/addrspace.h"
#include "symbols/unwind.h"
#include "tracer/proc.h"
#include "tracer/procfs.h"
#include "tracer/state.h"
#include "tracer/targets.h"

void
follow_ask(struct state *st)
{
	st->follow = true;
}

bool
follow_wanted(const struct state *st)
{
	const char *text = st->opts.text[OPT_FOLLOW];

	return st->follow && !st->draining &&
	    (text == NULL || strcmp(text, "none") != 0);
}

/* What any space needs that is traced. */
static void
set_up(struct state *st, struct proc *p)
{
	struct space *sp = p->space;

	targets_space(st, p);
	sp->unmarked = true;
}

void
follow_forked(struct state *st, struct thread *parent, struct thread *child)
{
	struct space *sp = child->proc->space;
	struct tptable *tab = parent->proc->space->tab;

	space_stop(sp);
	if (sp->tab == NULL && tab != NULL) {
		sp->tab = tptable_fork(tab, &sp->target);
		targets_clean(st, child->proc);
		tptable_destroy(sp->tab);
		sp->tab = NULL;
	}
	set_up(st, child->proc);
	space_resume(sp);
}

bool
follow_executed(struct state *st, struct proc *p)
{
	if (!follow_wanted(st))
		return false;
	if (procfs_wrong_elf(p->pid)) {
		state_notice(st,
		    "pid %d executes a 32-bit program, which cannot be "
		    "traced: it is let go",
		    p->pid);
		return false;
	}
	set_up(st, p);
	return true;
}

void
follow_refresh(struct space *sp)
{
	if (!sp->unmarked || sp->as == NULL)
		return;
	if (addrspace_refresh(sp->as, NULL, NULL) > 0 && sp->unwinder != NULL)
		unwinder_flush(sp->unwinder);
}
