/*
 * The registers of a stopped thread, and its debug register.
 */
#include <errno.h>

#include "tracer/ptrace/datawatch.h"
#include "tracer/ptrace/super.h"

struct uregs *
thread_regs(struct thread *th)
{
	struct registers *r = &th->regs;

	if (!thread_at_hand(th))
		return NULL;
	if (r->state == REGS_UNKNOWN) {
		if (regs_fetch(th->tid, &r->user) < 0)
			return NULL;
		r->state = REGS_KNOWN;
		r->kernel_pc = r->user.r[UREG_PC];
	}
	return &r->user;
}

const struct uregs *
thread_regs_had(const struct thread *th)
{
	return th->regs.state != REGS_UNKNOWN ? &th->regs.user : NULL;
}

int
thread_pc(struct thread *th, uint64_t *pc, uint64_t *sp)
{
	struct uregs *regs = thread_regs(th);

	*pc = *sp = 0;
	if (regs != NULL) {
		*pc = regs->r[UREG_PC];
		*sp = regs->r[UREG_SP];
	} else if (!thread_stopped(th) && !thread_ends(th) &&
	    procfs_pc(th->tid, pc, sp) < 0) {
		*pc = *sp = 0;
		return procfs_state(th->tid) == '\0' ? 0 : -EAGAIN;
	}
	return 0;
}

bool
thread_fp_regs(struct thread *th, uint64_t fp[UREG_FP_COUNT])
{
	return thread_stopped(th) && regs_fetch_fp(th->tid, fp) == 0;
}

void
thread_regs_dirty(struct thread *th)
{
	if (!th->stop.executed) /* otherwise they are the old leader's */
		th->regs.state = REGS_CHANGED;
}

void
thread_regs_moved(struct thread *th)
{
	if (th->regs.user.r[UREG_PC] != th->regs.kernel_pc)
		thread_regs_dirty(th);
}

void
thread_regs_lead(struct thread *th, bool into_slot)
{
	th->regs.into_slot = into_slot;
}

void
regs_begin(struct thread *th)
{
	th->regs.state = REGS_UNKNOWN;
	th->regs.into_slot = false;
	th->regs.at_watch = false;
}

void
regs_forget(struct thread *th)
{
	th->regs.state = REGS_UNKNOWN;
}

void
regs_write_back(struct thread *th)
{
	if (th->regs.state == REGS_CHANGED)
		regs_store(th->tid, &th->regs.user);
	th->regs.state = REGS_UNKNOWN;
}

void
regs_become(struct thread *th, const struct uregs *user, uint64_t kernel_pc,
    enum regs_state state)
{
	th->regs.user = *user;
	th->regs.kernel_pc = kernel_pc;
	th->regs.state = state;
}

int
thread_watch(struct thread *th, uint64_t addr)
{
	if (addr == th->regs.watch)
		return 0;
	int r = regs_watch(th->tid, addr);
	if (r == -ESRCH) /* killed: it will execute nothing more */
		r = 0;
	th->regs.watch = r == 0 ? addr : 0;
	return r;
}

bool
thread_at_watch(struct thread *th)
{
	struct uregs *regs;
	siginfo_t si;

	if (th->regs.at_watch || datawatch_at(th))
		return true;
	return th->regs.watch != 0 && (regs = thread_regs(th)) != NULL &&
	    regs->r[UREG_PC] == th->regs.watch &&
	    thread_siginfo(th, &si) == 0 && si.si_signo == SIGTRAP &&
	    si.si_code == TRAP_HWBKPT;
}

void
regs_at_watch(struct thread *th)
{
	th->regs.at_watch = true;
}

void
thread_watch_lost(struct thread *th)
{
	th->regs.watch = 0;
}
