/*
 * A signal is delivered to a thread that may be in a slot; see hit.h.
 */
#include <signal.h>

#include "inject/resume.h"
#include "inject/tracepoint.h"
#include "inject/trap/area.h"
#include "tracer/fire/hit.h"
#include "tracer/fire/trail.h"
#include "tracer/ptrace/proc.h"
#include "tracer/sites/jumps.h"
#include "tracer/sites/sigwatch.h"
#include "tracer/sites/site.h"

/* If si_addr is an address in a slot, replace it by that of the original
 * instruction. */
static void
mend_si_addr(struct thread *th, struct tptable *tab)
{
	siginfo_t si;

	if ((th->stop.sig != SIGILL && th->stop.sig != SIGFPE &&
		th->stop.sig != SIGTRAP) ||
	    thread_siginfo(th, &si) < 0 || si.si_code <= 0 ||
	    si.si_code == TRAP_CODE)
		return;
	uint64_t addr = (uintptr_t)si.si_addr;
	uint64_t text = resume_text_pc(tab, addr);
	if (text == addr)
		return;
	si.si_addr = (void *)(uintptr_t)text;
	thread_set_siginfo(th, &si);
}

static void
tell_undone(
    struct thread *th, const struct tracepoint *tp, const struct uregs *regs)
{
	if (tp->user != NULL)
		arrivals_foreach(a, (struct tp_user *)tp->user) if (a->undone !=
		    NULL) a->undone(th, regs);
}

/* Move the thread out of a slot or stub, so that the signal handler sees a pc
 * in the program's text. */
static void
leave_slot(struct state *st, struct thread *th, struct tptable *tab,
    struct uregs *regs)
{
	struct tracepoint *tp = NULL;
	enum slot_place place = resume_leave_stub(tab, regs, &tp);

	/* The thread may continue in the text at bytes that the jump has
	 * replaced: restore them.  One that steps by the trap flag would come
	 * back to the jump for ever. */
	if (place != SLOT_OUTSIDE && place != SLOT_FIRING) {
		if (th->stop.sig == SIGTRAP)
			jumps_lower(th->proc->space, tp);
		else
			jumps_let(st, th->proc->space, tp, regs->r[UREG_PC]);
	}
	if (place == SLOT_OUTSIDE)
		place = resume_leave_slot(tab, regs, &tp);
	switch (place) {
	case SLOT_OUTSIDE:
	case SLOT_FIRING: return;
	case SLOT_ENTERED: thread_regs_dirty(th); return;
	case SLOT_BEFORE:
		if (tp != NULL && tp->state == TP_TRAP) {
			trail_skip(th, tp->addr, regs->r[UREG_SP]);
			tell_undone(th, tp, regs);
		}
		break;
	case SLOT_AFTER: break;
	}
	thread_regs_dirty(th);
	mend_si_addr(th, tab);
}

bool
hit_finds_no_lane(struct thread *th)
{
	struct tptable *tab = th->proc->space->tab;
	struct tracepoint *tp;
	struct uregs *regs;
	siginfo_t si;

	if ((th->stop.sig != SIGSEGV && th->stop.sig != SIGBUS) ||
	    tab == NULL || (regs = thread_regs(th)) == NULL ||
	    !resume_stub_faults(tab, regs->r[UREG_PC]) ||
	    thread_siginfo(th, &si) < 0 || si.si_code <= 0 ||
	    resume_leave_stub(tab, regs, &tp) == SLOT_OUTSIDE)
		return false;
	jumps_lower(th->proc->space, tp);
	stop_signal(th, 0);
	thread_regs_dirty(th);
	return true;
}

void
hit_signal(struct state *st, struct thread *th)
{
	struct tptable *tab = th->proc->space->tab;
	struct uregs *regs;

	/* Fetch registers only if the process has slots. */
	if (tab == NULL || (regs = thread_regs(th)) == NULL)
		return;
	leave_slot(st, th, tab, regs);
	sigwatch_delivered(th);
}
