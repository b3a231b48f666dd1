/*
 * Hits; see hit.h.
 *
 * Four system calls when nothing is recorded: the wait that brought the event,
 * fetch registers, set registers, continue.
 */
#include "tracer/hit.h"

#include <signal.h>

#include "dlang/vm/ecb.h"
#include "inject/resume.h"
#include "inject/tracepoint.h"
#include "tracer/eval.h"
#include "tracer/proc.h"
#include "tracer/prov/pid.h"
#include "tracer/prov/site.h"
#include "tracer/state.h"
#include "tracer/targets.h"

static void
fire_sites(struct state *st, struct tracepoint *tp, struct tp_user *u,
    struct uregs *regs)
{
	if (!u->conditional) {
		ecb_fire_tracepoint(&st->env, tp->id);
		return;
	}
	for (struct site *s = u->sites; s != NULL; s = s->next)
		if (!s->conditional ||
		    resume_branch_leaves(tp, regs, s->start, s->size))
			ecb_fire_site(&st->env, s->image_ref);
}

/* The probes at tp, unless this is the second trap of one execution. */
static void
fire(struct state *st, struct thread *th, struct tracepoint *tp,
    struct uregs *regs)
{
	struct tp_user *u = tp->user;

	if (th->skip_addr == tp->addr && th->skip_sp == regs->r[UREG_RSP]) {
		th->skip_addr = 0;
		return;
	}
	th->skip_addr = 0;
	if (u == NULL || u->sites == NULL || st->store_mem.base == NULL ||
	    !state_cpu_wanted(st, th))
		return;
	st->hits++;
	eval_begin(st, th);
	processor_hit(&st->processor, th, st->env.timestamp);
	fire_sites(st, tp, u, regs);
	st->thread = NULL;
	state_after_fire(st);
}

bool
hit_trap(struct state *st, struct thread *th)
{
	struct tptable *tab = th->proc->space->tab;
	struct uregs *regs = thread_regs(th);
	uint64_t fault_addr;
	bool keep = false;

	if (regs == NULL)
		return true; /* killed: its end will be reported */
	uint64_t addr = regs->r[UREG_RIP] - 1;
	struct tracepoint *tp =
	    tab != NULL ? tracepoint_lookup(tab, addr) : NULL;
	if (tp == NULL) {
		/* A trap that was under way when its tracepoint went. */
		if (tab != NULL && tracepoint_recent(tab, addr)) {
			regs->r[UREG_RIP] = addr;
			thread_regs_dirty(th);
			thread_mend_sigtrap(th);
			return true;
		}
		hit_signal(st, th);
		th->sig = SIGTRAP; /* the program's own */
		return true;
	}

	regs->r[UREG_RIP] = addr;
	fire(st, th, tp, regs);
	if (tp->was_int3) {
		regs->r[UREG_RIP] = addr + 1;
		th->sig = SIGTRAP;
		thread_regs_dirty(th);
		return true;
	}
	struct tp_user *u = tp->user;
	if (u != NULL && u->ifunc)
		pid_resolved(st, th->proc, addr, regs->r[UREG_RAX]);
	if (u != NULL && (u->linkmap || u->stop_here))
		keep = targets_arrived(st, th, u);
	thread_mend_sigtrap(th);
	if (resume_from(tab, tp, regs, &fault_addr) != 0) {
		/* A call or jump through a bad pointer: the fault that the
		 * processor would have raised at the original place. */
		regs->r[UREG_RIP] = addr;
		thread_fault(th, SIGSEGV, SEGV_MAPERR, fault_addr);
	}
	thread_regs_dirty(th);
	return !keep;
}

void
hit_signal(struct state *st, struct thread *th)
{
	struct tptable *tab = th->proc->space->tab;
	struct uregs *regs;
	struct tracepoint *tp;

	/* Registers only when there can be a slot to leave. */
	if (tab == NULL || (regs = thread_regs(th)) == NULL)
		return;
	switch (resume_leave_slot(tab, regs, &tp)) {
	case SLOT_OUTSIDE: return;
	case SLOT_BEFORE:
		if (tp != NULL && tp->state == TP_TRAP) {
			th->skip_addr = tp->addr;
			th->skip_sp = regs->r[UREG_RSP];
		}
		break;
	case SLOT_AFTER: break;
	}
	thread_regs_dirty(th);
}
