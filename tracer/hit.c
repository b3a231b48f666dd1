/*
 * Hits; see hit.h.
 *
 * Four system calls when nothing is recorded: the wait that brought the event,
 * fetch registers, set registers, continue.
 */
#include "tracer/hit.h"

#include <signal.h>

#include "dlang/base/fault.h"
#include "dlang/vm/ecb.h"
#include "inject/resume.h"
#include "inject/tracepoint.h"
#include "inject/trap/area.h"
#include "tracer/eval.h"
#include "tracer/proc.h"
#include "tracer/prov/pid.h"
#include "tracer/prov/plock.h"
#include "tracer/prov/site.h"
#include "tracer/sigwatch.h"
#include "tracer/state.h"
#include "tracer/targets.h"
#include "tracer/trapqueue.h"

static void
fire_sites(struct state *st, struct tracepoint *tp, struct tp_user *u,
    struct uregs *regs)
{
	for (struct site *s = u->sites; st->deadman.on && s != NULL;
	     s = s->next)
		deadman_fired(st, s->probe);
	if (!u->conditional) {
		ecb_fire_tracepoint(&st->env, tp->id);
		return;
	}
	for (struct site *s = u->sites; s != NULL; s = s->next)
		if (!s->conditional ||
		    resume_branch_leaves(tp, regs, s->start, s->size))
			ecb_fire_site(&st->env, s->image->ref);
}

/* Is this the second trap of one execution?  Until it comes, the handler of the
 * signal that came first may meet tracepoints, further down the stack. */
static bool
is_second(
    struct thread *th, const struct tracepoint *tp, const struct uregs *regs)
{
	uint64_t sp = regs->r[UREG_RSP];
	bool second = th->skip_addr == tp->addr && th->skip_sp == sp;

	if (sp >= th->skip_sp)
		th->skip_addr = 0;
	return second;
}

/* The probes at tp, unless this is the second trap of one execution. */
static void
fire(struct state *st, struct thread *th, struct tracepoint *tp,
    struct uregs *regs)
{
	struct tp_user *u = tp->user;

	if (is_second(th, tp, regs))
		return;
	if (u != NULL && u->plock)
		plock_hit(st, th, tp->addr);
	if (u == NULL || u->sites == NULL || st->store_mem.base == NULL ||
	    !state_wants_cpu(st, th))
		return;
	eval_begin(st, th);
	processor_hit(&st->processor, th, st->env.timestamp);
	fire_sites(st, tp, u, regs);
	st->thread = NULL;
	state_after_fire(st);
}

/*
 * A SIGTRAP that somebody sent, in a thread whose pc happens to be one behind a
 * tracepoint.  With a longer instruction there that is inside of it, where no
 * thread ever stops; with one of one byte it is the next instruction, and only
 * the signal's origin tells.  An int3 says SI_KERNEL; a single step of the
 * program's own, TRAP_TRACE.  While SIGTRAP is blocked nothing but an int3
 * brings it.
 */
static bool
is_stray(struct thread *th, const struct tracepoint *tp)
{
	siginfo_t si;
	bool reset;

	if (tp->len != 1 || thread_siginfo(th, &si) < 0 ||
	    si.si_code == SI_KERNEL ||
	    (si.si_code == TRAP_BRKPT && !trapqueue_is_sent(&si)))
		return false;
	return sigtrap_tells(th, &reset) ? !reset : !sigtrap_blocked(th);
}

/* A SIGTRAP that a tracer had dealt with when it was killed, or that its debug
 * register has raised: nobody wants it any more. */
static bool
is_inherited(struct thread *th)
{
	siginfo_t si;

	return th->proc->space->inherited && thread_siginfo(th, &si) == 0 &&
	    (si.si_code == TRAP_DONE || si.si_code == TRAP_HWBKPT);
}

/*
 * What is a byte long and has no slot is a nop.  Its trap has left the pc where
 * the nop would have: there is nothing to write back.
 */
static void
write_back(struct thread *th, const struct tracepoint *tp)
{
	th->into_slot = tp->slot != 0;
	if (tp->len == 1 && tp->slot == 0)
		thread_regs_moved(th);
	else
		thread_regs_dirty(th);
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
	fault_kill("hit-regs");
	if (thread_at_watch(th)) {
		plock_arrived(st, th);
		thread_mend_sigtrap(th);
		return true;
	}
	uint64_t addr = regs->r[UREG_RIP] - 1;
	struct tracepoint *tp =
	    tab != NULL ? tracepoint_lookup(tab, addr) : NULL;
	bool stray = tp != NULL && is_stray(th, tp);
	if (tp == NULL || stray) {
		/* A trap that was under way when its tracepoint went. */
		if (!stray && tab != NULL && tracepoint_recent(tab, addr)) {
			regs->r[UREG_RIP] = addr;
			thread_regs_dirty(th);
			thread_mend_sigtrap(th);
			return true;
		}
		if (is_inherited(th))
			return true;
		th->sig = SIGTRAP; /* the program's own */
		hit_signal(st, th);
		return true;
	}

	regs->r[UREG_RIP] = addr;
	fire(st, th, tp, regs);
	fault_kill("hit-fired");
	if (tp->was_int3) {
		regs->r[UREG_RIP] = addr + 1;
		th->sig = SIGTRAP;
		thread_regs_dirty(th);
		sigwatch_delivered(th);
		return true;
	}
	struct tp_user *u = tp->user;
	if (u != NULL && u->ifunc)
		pid_resolved(st, th->proc, addr, regs->r[UREG_RAX]);
	if (u != NULL && (u->linkmap || u->stop_here))
		keep = targets_arrived(st, th, u);
	bool watched = u != NULL && u->sigwatch;
	if (watched)
		th->mask_looked = 0; /* it is built on */
	thread_mend_sigtrap(th);
	if (watched && sigwatch_hit(th, regs)) {
		regs->r[UREG_RIP] = addr + tp->len;
		thread_regs_dirty(th);
		return !keep;
	}
	if (resume_from(tab, tp, regs, &fault_addr) != 0) {
		/* A call or jump through a bad pointer: the fault that the
		 * processor would have raised at the original place. */
		regs->r[UREG_RIP] = addr;
		thread_fault(th, SIGSEGV, SEGV_MAPERR, fault_addr);
	}
	write_back(th, tp);
	fault_kill("hit-moved");
	if (watched)
		sigwatch_settle(st, th->proc->space);
	return !keep;
}

/* The address in a signal that says which instruction is to blame. */
static void
mend_si_addr(struct thread *th, struct tptable *tab)
{
	siginfo_t si;

	if ((th->sig != SIGILL && th->sig != SIGFPE && th->sig != SIGTRAP) ||
	    thread_siginfo(th, &si) < 0 || si.si_code <= 0 ||
	    si.si_code == SI_KERNEL)
		return;
	uint64_t addr = (uintptr_t)si.si_addr;
	uint64_t text = resume_text_pc(tab, addr);
	if (text == addr)
		return;
	si.si_addr = (void *)(uintptr_t)text;
	thread_set_siginfo(th, &si);
}

/* Out of a slot, before anybody sees it. */
static void
leave_slot(struct thread *th, struct tptable *tab, struct uregs *regs)
{
	struct tracepoint *tp;

	switch (resume_leave_slot(tab, regs, &tp)) {
	case SLOT_OUTSIDE: return;
	case SLOT_BEFORE:
		if (tp != NULL && tp->state == TP_TRAP) {
			struct tp_user *u = tp->user;
			th->skip_addr = tp->addr;
			th->skip_sp = regs->r[UREG_RSP];
			if (u != NULL && u->sigwatch)
				sigwatch_undo(th, regs);
		}
		break;
	case SLOT_AFTER: break;
	}
	thread_regs_dirty(th);
	mend_si_addr(th, tab);
}

void
hit_signal(struct state *st, struct thread *th)
{
	struct tptable *tab = th->proc->space->tab;
	struct uregs *regs;

	/* Registers only when there can be a slot to leave. */
	if (tab == NULL || (regs = thread_regs(th)) == NULL)
		return;
	leave_slot(th, tab, regs);
	sigwatch_delivered(th);
}
