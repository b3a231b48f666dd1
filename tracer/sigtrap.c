/*
 * SIGTRAP's mask bit and disposition, which an int3 takes from the program.
 *
 * force_sig_info_to_task() (kernel/signal.c) raises the SIGTRAP of an int3 so
 * that it cannot be missed: if the signal is blocked it is unblocked for good,
 * and if it is blocked or ignored its handler becomes SIG_DFL; flags, mask and
 * restorer stay.  All that happens before the tracer sees the stop, and the
 * stop looks the same as when nothing was reset.  So what was before must be
 * known from before, or be inferred:
 *
 *	mask		one PTRACE_GETSIGMASK, at every hit of a thread that
 *			blocks SIGTRAP, else at a hit if the last look was
 *			MASK_MS ago.  If the mask without SIGTRAP is what it
 *			was at that look, or at attach, so is the bit.  If it
 *			has changed since, the bit is taken to be like the
 *			signals that programs treat alike: who blocks SIGILL,
 *			SIGBUS, SIGFPE and SIGSEGV blocks everything.
 *	disposition	read from /proc when we come to the process, and again
 *			at a hit if that is LOOK_MS ago; a handler is then
 *			asked for by a system call in the thread, so that it
 *			can be put back.
 *
 * Limits, all of them of programs that handle SIGTRAP themselves: a mask in
 * which SIGTRAP alone was blocked or unblocked since the last look is restored
 * wrongly; a handler that was set less than LOOK_MS before a hit with SIGTRAP
 * blocked is lost, and so is an ignored SIGTRAP that was not ignored when the
 * process was attached or executed its program.  Between the hit and its
 * repair a SIGTRAP of somebody else may get through.
 */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "dlang/base/log.h"
#include "tracer/remote.h"
#include "tracer/super_impl.h"

#define SIGBIT(sig) (1ULL << ((sig)-1))
/* Ten looks a second cost less than one part in a thousand; the mask is
 * cheaper to look at. */
#define LOOK_MS 100
#define MASK_MS 4

/* The kernel's struct sigaction on 64-bit machines. */
enum { ACTION_HANDLER, ACTION_FLAGS, ACTION_RESTORER, ACTION_MASK };
#define HANDLER_IGNORE ((uint64_t)(uintptr_t)SIG_IGN)

/* Below the red zone of the stack, aligned: nothing lives there. */
#define SCRATCH_BELOW 256

static uint64_t
now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* Was SIGTRAP blocked before the hit that left this mask? */
static bool
was_blocked(const struct thread *th, uint64_t mask)
{
	const uint64_t alike =
	    SIGBIT(SIGILL) | SIGBIT(SIGBUS) | SIGBIT(SIGFPE) | SIGBIT(SIGSEGV);

	if (th->mask_known && (th->sigmask & ~SIGBIT(SIGTRAP)) == mask)
		return (th->sigmask & SIGBIT(SIGTRAP)) != 0;
	return (mask & alike) == alike;
}

/* rt_sigaction(SIGTRAP) in the thread, through a few words of its stack. */
static int
action_call(struct thread *th, bool set, uint64_t action[4])
{
	struct space *sp = th->proc->space;
	struct uregs *regs = thread_regs(th);
	uint64_t kept[4];
	int64_t result = 0;

	if (regs == NULL)
		return -ESRCH;
	uint64_t addr = (regs->r[UREG_RSP] - SCRATCH_BELOW) & ~15ULL;
	const struct target_ops *ops = sp->target.ops;
	int r = ops->read(&sp->target, addr, kept, sizeof(kept));
	if (r == 0 && set)
		r = ops->write(&sp->target, addr, action, sizeof(kept));
	if (r < 0)
		return r;
	const uint64_t args[6] = { SIGTRAP, set ? addr : 0, set ? 0 : addr,
		sizeof(action[ACTION_MASK]) };
	r = remote_syscall(th, SYS_rt_sigaction, args, &result);
	if (r == 0 && result < 0)
		r = (int)result;
	if (r == 0 && !set)
		r = ops->read(&sp->target, addr, action, sizeof(kept));
	ops->write(&sp->target, addr, kept, sizeof(kept));
	return r;
}

/* The hit has made the handler SIG_DFL: back to what it was. */
static void
action_restore(struct thread *th)
{
	struct proc *p = th->proc;
	int r = 0;

	if (p->trap_caught && !p->trap_saved)
		r = -ENODATA;
	else if (p->trap_caught)
		r = action_call(th, true, p->trap_action);
	else if (p->trap_ignored &&
	    (r = action_call(th, false, p->trap_action)) == 0) {
		p->trap_action[ACTION_HANDLER] = HANDLER_IGNORE;
		r = action_call(th, true, p->trap_action);
	}
	if (r < 0)
		LOG("sigtrap", "%d: SIGTRAP's action not restored: %s",
		    (int)th->tid, strerror(-r));
}

void
sigtrap_save(struct thread *th)
{
	struct proc *p = th->proc;

	p->trap_saved =
	    p->trap_caught && action_call(th, false, p->trap_action) == 0;
}

/* What the program does with SIGTRAP now, for the hits to come. */
static void
action_look(struct thread *th, uint64_t now)
{
	struct proc *p = th->proc;
	struct proc_status st;

	if (p->trap_looked != 0 && now - p->trap_looked < LOOK_MS)
		return;
	p->trap_looked = now;
	if (procfs_status(th->tid, &st) < 0)
		return;
	p->trap_ignored = (st.sig_ignored & SIGBIT(SIGTRAP)) != 0;
	p->trap_caught = (st.sig_caught & SIGBIT(SIGTRAP)) != 0;
	sigtrap_save(th);
}

void
thread_mend_sigtrap(struct thread *th)
{
	uint64_t mask, now = now_ms();

	if (now - th->mask_looked < MASK_MS && th->mask_known &&
	    (th->sigmask & SIGBIT(SIGTRAP)) == 0 && !th->proc->trap_ignored)
		return;
	if (th->state != TH_STOPPED || thread_sigmask(th, &mask) < 0)
		return;
	th->mask_looked = now;
	bool blocked = was_blocked(th, mask);
	th->sigmask = mask | (blocked ? SIGBIT(SIGTRAP) : 0);
	th->mask_known = true;
	if (blocked && (mask & SIGBIT(SIGTRAP)) == 0)
		thread_set_sigmask(th, th->sigmask);
	if (blocked || th->proc->trap_ignored)
		action_restore(th);
	else
		action_look(th, now);
}
