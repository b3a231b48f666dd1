/*
 * The registers of a stopped thread, its debug register among them.
 */
#include <errno.h>

#include "tracer/ptrace/super.h"

struct uregs *
thread_regs(struct thread *th)
{
	if (!thread_stopped(th))
		return NULL;
	if (!th->regs_valid) {
		if (regs_fetch(th->tid, &th->regs) < 0)
			return NULL;
		th->regs_valid = true;
		th->kernel_pc = th->regs.r[UREG_PC];
	}
	return &th->regs;
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
	th->regs_dirty = true;
}

void
thread_regs_moved(struct thread *th)
{
	if (th->regs.r[UREG_PC] != th->kernel_pc)
		th->regs_dirty = true;
}

int
thread_watch(struct thread *th, uint64_t addr)
{
	if (addr == th->watch)
		return 0;
	int r = regs_watch(th->tid, addr);
	if (r == -ESRCH) /* killed: it comes nowhere any more */
		r = 0;
	th->watch = r == 0 ? addr : 0;
	return r;
}

bool
thread_at_watch(struct thread *th)
{
	struct uregs *regs;
	siginfo_t si;

	return th->watch != 0 && (regs = thread_regs(th)) != NULL &&
	    regs->r[UREG_PC] == th->watch && thread_siginfo(th, &si) == 0 &&
	    si.si_signo == SIGTRAP && si.si_code == TRAP_HWBKPT;
}
