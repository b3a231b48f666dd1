/*
 * Following; see follow.h.
 *
 *	fork	same addresses, same int3s, same tracepoint numbers: the child's
 *		table is a copy, and the sites in the image serve both
 *	exec	a new space; the clauses are matched against it anew, under the
 *		provider of the process that it descends from (role.h)
 */
#include "tracer/drive/follow.h"

#include "dlang/base/fault.h"
#include "inject/tracepoint.h"
#include "tracer/survive/leftover.h"
#include "tracer/prov/plock/plock.h"
#include "tracer/fast/fast.h"
#include "tracer/sites/jumps.h"
#include "tracer/sites/site.h"
#include "tracer/ptrace/setid.h"
#include "tracer/sites/sigwatch.h"
#include "tracer/base/state.h"
#include "tracer/ptrace/super.h"
#include "tracer/drive/targets.h"

static bool
is_wanted(const struct state *st, const struct proc *p)
{
	return st->follow && p->role.family != 0 && !st->draining;
}

/*
 * Was the child created before dtrap's last change of its parent's memory? Then
 * its copy may have breakpoints that the parent's table no longer lists, and not
 * have memory that the table has.  The list in the child's own memory is true of
 * it, as in a process that a dead tracer has left.
 */
static bool
is_stale(const struct proc *parent, const struct proc *child)
{
	const struct space *from = parent->space;

	return from->tab != NULL &&
	    (from->info == NULL || child->maker_changes != from->changes);
}

static void
clean_copy(struct proc *child)
{
	struct space *sp = child->space;
	struct leftover *left;
	char why[1];

	space_stop(sp);
	/* Its SIGTRAP handler may still be dtrap's. */
	traphandler_is(child, HANDLER_ABSENT);
	proc_refresh(child);
	vec_foreach(th, &child->threads)
		sigtrap_save(*th);
	if (leftover_find(child->pid, NULL, &left, why, sizeof(why)) == 0 &&
	    left != NULL) {
		leftover_mend(left, sp);
		leftover_release(left, child);
	}
	space_resume(sp);
	fault_kill("follow-cleaned");
}

/* What dtrap knows of the parent's memory is true of the child's copy. */
static void
inherit(struct state *st, struct space *from, struct proc *child)
{
	struct space *sp = child->space;

	targets_fork_table(st, from, sp);
	sites_fork(from, sp);
	plock_fork(from, sp);
	targets_fork_objects(from, child);
	loads_matched_in(sp->as);
	sigwatch_fork(from, sp);
	if (tptable_queued(sp->tab))
		sites_commit(st, sp);
}

static void
keep(struct state *st, struct proc *parent, struct proc *child)
{
	struct space *from = parent->space;

	fault_kill("follow-keep");
	role_follow(child, true);
	if (from->tab == NULL)
		return;
	if (is_stale(parent, child)) {
		clean_copy(child);
		targets_set_up(st, child);
	} else {
		inherit(st, from, child);
		jumps_forked(st, child->space);
		if (fast_is_on(st))
			sites_commit(st, child->space);
	}
	fault_kill("follow-kept");
}

static void
release(struct state *st, struct proc *parent, struct proc *child)
{
	if (is_stale(parent, child))
		clean_copy(child);
	else if (child->space->tab == NULL && parent->space->tab != NULL)
		targets_fork_table(st, parent->space, child->space);
	fault_kill("fork-release");
	targets_let_go(st, child);
	fault_kill("fork-released");
}

void
follow_born(struct state *st, struct thread *parent, struct thread *child)
{
	struct proc *p = child->proc, *from = parent->proc;

	if (p == from)
		return; /* a thread */
	role_inherit(from, p);
	if (p->space == from->space)
		return;
	if (is_wanted(st, from))
		keep(st, from, p);
	else
		release(st, from, p);
}

bool
follow_executed(struct state *st, struct proc *p)
{
	if (!p->role.named && !is_wanted(st, p))
		return false;
	/* The memory cannot be opened if the program file is not readable. */
	if (p->space->mem_fd < 0 || setid_withheld(p)) {
		state_notice(st,
		    "pid %d exec'd a set-id or unobservable program", p->pid);
		return false;
	}
	if (procfs_wrong_elf(p->pid)) {
		state_notice(st,
		    "pid %d executed a 32-bit program, which cannot be "
		    "traced: detached from it",
		    p->pid);
		return false;
	}
	role_follow(p, p->role.family != p->pid);
	return true;
}
