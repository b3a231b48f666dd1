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
 * Was this SIGTRAP sent by another process or thread, and is the pc one byte
 * behind a tracepoint by accident? If the instruction there is longer than a
 * byte, such a pc is inside it, where no thread ever stops. If it is one byte
 * long, the pc is at the next instruction, and only the siginfo tells: an int3
 * has si_code SI_KERNEL, a single step by the program itself TRAP_TRACE. While
 * SIGTRAP is blocked, only an int3 can cause it.
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

/* Was this SIGTRAP handled by an earlier tracer before it was killed, or raised
 * by a debug register that it set? Then it is discarded. */
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
		/* The thread hit the tracepoint just before it was removed. */
		th->regs.user.r[UREG_PC] = addr;
		thread_regs_dirty(th);
		thread_mend_sigtrap(th);
		return;
	}
	if (is_inherited(th))
		return;
	stop_signal(th, SIGTRAP); /* the program raised it itself */
	hit_signal(st, th);
}
