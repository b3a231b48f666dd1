/*
 * See stray.h.
 */
#include "tracer/fire/stray.h"

#include <signal.h>

#include "inject/tracepoint.h"
#include "inject/trap/area.h"
#include "tracer/fire/hit.h"
#include "tracer/ptrace/proc.h"

/*
 * A SIGTRAP that somebody sent, in a thread whose pc happens to be one behind a
 * tracepoint.  With a longer instruction there that is inside of it, where no
 * thread ever stops; with one of one byte it is the next instruction, and only
 * the signal's origin tells.  An int3 says SI_KERNEL; a single step of the
 * program's own, TRAP_TRACE.  While SIGTRAP is blocked nothing but an int3
 * brings it.
 */
bool
stray_is(struct thread *th, const struct tracepoint *tp)
{
	siginfo_t si;
	bool reset;

	if (tp->len != 1 || thread_siginfo(th, &si) < 0 ||
	    si.si_code == TRAP_CODE || si.si_code == TRAP_BRKPT)
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

void
stray_pass_on(struct state *st, struct thread *th, uint64_t addr,
    const struct tracepoint *tp)
{
	struct tptable *tab = th->proc->space->tab;

	if (tp == NULL && tab != NULL && tracepoint_recent(tab, addr)) {
		/* It was under way when its tracepoint went. */
		th->regs.user.r[UREG_PC] = addr;
		thread_regs_dirty(th);
		thread_mend_sigtrap(th);
		return;
	}
	if (is_inherited(th))
		return;
	stop_signal(th, SIGTRAP); /* the program's own */
	hit_signal(st, th);
}
