/*
 * SIGTRAP's mask bit and disposition, which an int3 takes from the program.
 *
 * force_sig_info_to_task() (kernel/signal.c) raises the SIGTRAP of an int3 so
 * that it cannot be missed: if the signal is blocked it is unblocked for good,
 * and if it is blocked or ignored its handler becomes SIG_DFL; flags, mask and
 * restorer stay.  All that happens before the tracer sees the stop, and the
 * stop looks the same as when nothing was reset.  So what was before must be
 * known from before:
 *
 *	disposition	read when we come to the process, again when its space
 *			gets its first probe; sigwatch.c then sees every
 *			change as it is made.
 *	mask		read likewise, thread by thread, and when a thread is
 *			born.  sigwatch.c sees it changed by a call; the loop
 *			sees a signal delivered, and what its handler blocks is
 *			known from the sigaction() that was seen; its return is
 *			seen where that matters.
 *
 * What is known is checked by one PTRACE_GETSIGMASK, at every hit of a thread
 * that blocks SIGTRAP or has been sent a signal, else at a hit if the last look
 * was MASK_MS ago (or at every hit, where the watch has given up).  If the
 * mask but for SIGTRAP is the one that is known, or the one before that, so is
 * the bit.  If it is another (a change was not seen: sigsuspend() and a
 * handler, the raw syscall(3), a program that lost its watch because it changes
 * its mask all day) the bit is taken to be like the signals that programs treat
 * alike: who blocks SIGILL, SIGBUS, SIGFPE and SIGSEGV blocks everything.
 *
 * A thread that blocks SIGTRAP would die of the first int3 that it meets after
 * our death, whatever handler there is.  So the bit is hidden from the kernel
 * where the handler of inject/trap/ stands and the program has no use for the
 * signal, but blocks all there are (trap_hidden): from when we come, from the end
 * of the call that blocks it (hide_after), or, if that was not seen, from the
 * first hit.  (Such a hit has the action reset, for all threads, until we have
 * put it back: so it must be rare.)  It is shown again
 *
 *	when the program asks for its mask or changes it (sigwatch.c)
 *	when the thread executes a program, and when it is let go
 *	when somebody sends a SIGTRAP: it is then pending, as it should be, and
 *	is not hidden in this process any more
 *
 * Where a marker of the watch could not be placed, or no probe has a site yet,
 * the disposition is read from /proc at a hit if that is LOOK_MS ago.
 *
 * A SIGTRAP that is pending for a thread that blocks it, when it meets an int3,
 * swallows the int3's (a standard signal is queued once) and is what we get to
 * see: it goes back to where it was, with its own siginfo.
 *
 * Limits.  While the bit is hidden, /proc and the frames of handlers show a mask
 * without it.  Where such a mask is put back and nobody sees it, the bit is lost:
 * by a handler from which the thread returns after it was let go, and in a child
 * that it has by fork() and that is not followed, where the C library puts back
 * what it found before.
 *
 * A SIGTRAP that was blocked or unblocked by itself in a way that is not seen
 * (see sigwatch.c) is restored wrongly.  Handlers of other signals that were
 * there when their process was attached have an unknown sa_mask.
 * Between the hit and its repair a SIGTRAP of somebody else may get through,
 * and one that is pending while it is both blocked and ignored is discarded by
 * the repair.  A SIGTRAP that is sent to a thread in the moment when it
 * executes an int3 is one with it.
 */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "dlang/base/log.h"
#include "tracer/remote.h"
#include "tracer/super_impl.h"
#include "tracer/trapguard.h"

/* Ten looks a second cost less than one part in a thousand; the mask is
 * cheaper to look at. */
#define LOOK_MS         100
#define MASK_MS         4

#define HANDLER_DEFAULT ((uint64_t)(uintptr_t)SIG_DFL)
#define HANDLER_IGNORE  ((uint64_t)(uintptr_t)SIG_IGN)

/* No mask has them. */
#define NEVER_BLOCKED (SIGBIT(SIGKILL) | SIGBIT(SIGSTOP))

/* Below the red zone of the stack, aligned: nothing lives there. */
#define SCRATCH_BELOW 256

uint64_t
sigtrap_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* By what is blocked besides: is SIGTRAP? */
static bool
seems_blocked(uint64_t mask)
{
	const uint64_t alike =
	    SIGBIT(SIGILL) | SIGBIT(SIGBUS) | SIGBIT(SIGFPE) | SIGBIT(SIGSEGV);

	return (mask & alike) == alike;
}

/* Does the mask treat SIGTRAP in a way that it does not tell itself? */
static bool
is_apart(uint64_t mask)
{
	return ((mask & SIGBIT(SIGTRAP)) != 0) != seems_blocked(mask);
}

/* Was SIGTRAP blocked before the hit that left this mask? */
static bool
was_blocked(const struct thread *th, uint64_t mask)
{
	const uint64_t others = ~SIGBIT(SIGTRAP);

	if (th->mask_known && ((th->sigmask ^ mask) & others) == 0)
		return (th->sigmask & SIGBIT(SIGTRAP)) != 0;
	if (th->mask_known && ((th->mask_before ^ mask) & others) == 0)
		return (th->mask_before & SIGBIT(SIGTRAP)) != 0;
	return seems_blocked(mask);
}

static void
mask_becomes(struct thread *th, uint64_t mask)
{
	th->mask_before = th->mask_known ? th->sigmask : mask;
	th->sigmask = mask & ~NEVER_BLOCKED;
	th->mask_known = true;
}

/* rt_sigaction(SIGTRAP) in the thread, through a few words of its stack. */
static int
action_call(struct thread *th, bool set, uint64_t action[ACTION_WORDS])
{
	struct space *sp = th->proc->space;
	struct uregs *regs = thread_regs(th);
	uint64_t kept[ACTION_WORDS];
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

	if (p->guarded) {
		trapguard_lost(th);
		return;
	}
	if (!p->trap_caught && !p->trap_ignored)
		return;
	if (p->trap_saved) {
		r = action_call(th, true, p->trap_action);
	} else if (p->trap_caught) {
		r = -ENODATA;
	} else if ((r = action_call(th, false, p->trap_action)) == 0) {
		p->trap_action[ACTION_HANDLER] = HANDLER_IGNORE;
		p->trap_saved = true;
		r = action_call(th, true, p->trap_action);
	}
	if (r < 0)
		LOG("sigtrap", "%d: SIGTRAP's action not restored: %s",
		    (int)th->tid, strerror(-r));
}

/* What the handler blocks besides, of an action. */
static uint64_t
handler_blocks(int sig, const uint64_t action[ACTION_WORDS])
{
	uint64_t mask = action[ACTION_MASK] & ~NEVER_BLOCKED;

	if (action[ACTION_HANDLER] == HANDLER_DEFAULT ||
	    action[ACTION_HANDLER] == HANDLER_IGNORE)
		return 0;
	return (action[ACTION_FLAGS] & SA_NODEFER) != 0 ? mask :
							  mask | SIGBIT(sig);
}

static void
action_is(struct proc *p, int sig, const uint64_t action[ACTION_WORDS])
{
	p->handler_mask[sig - 1] = handler_blocks(sig, action);
	p->handler_known |= SIGBIT(sig);
	if (action[ACTION_RESTORER] != 0)
		p->sig_restorer = action[ACTION_RESTORER];
}

/* If a SIGTRAP that was pending has come in the place of the int3's: pending
 * again it shall be.  What a tracer delivers though it is blocked, is queued
 * (ptrace_signal() in kernel/signal.c), with the siginfo it had. */
static void
keep_pending(struct thread *th)
{
	siginfo_t si;

	if (thread_siginfo(th, &si) < 0 || si.si_code == SI_KERNEL ||
	    si.si_code == TRAP_BRKPT)
		return;
	sigtrap_show(th);
	th->proc->trap_sent = true;
	th->sig = SIGTRAP;
}

/* Is SIGTRAP nothing special for this mask?  Where it is treated otherwise than
 * its kin somebody has a use for it, and no heuristics bring it back. */
static bool
has_no_use(const struct proc *p, uint64_t mask)
{
	return p->guarded && seems_blocked(mask) && !p->trap_caught &&
	    !p->trap_ignored && !p->trap_sent && p->space->sig_watched &&
	    !p->space->mask_unseen;
}

/* May it be hidden?  Not in sigsuspend() and its like, where there are two
 * masks, and not if one is pending, which would be delivered. */
static bool
can_hide(const struct thread *th, uint64_t mask)
{
	struct proc_status st;

	return has_no_use(th->proc, mask) && procfs_status(th->tid, &st) == 0 &&
	    (st.sig_pending & SIGBIT(SIGTRAP)) == 0 &&
	    ((st.sig_blocked ^ mask) & ~SIGBIT(SIGTRAP)) == 0;
}

void
sigtrap_hide_after(struct thread *th)
{
	/* In a process that has our filter each call has a stop of its own. */
	th->hide_after = sigtrap_blocked(th) && !th->proc->filtered &&
	    has_no_use(th->proc, th->sigmask);
}

void
sigtrap_hide(struct thread *th)
{
	uint64_t mask;

	if (!sigtrap_blocked(th) || th->state != TH_STOPPED ||
	    thread_sigmask(th, &mask) < 0 || !can_hide(th, mask))
		return;
	th->trap_hidden = thread_set_sigmask(th, mask & ~SIGBIT(SIGTRAP)) == 0;
}

void
sigtrap_show(struct thread *th)
{
	uint64_t mask;

	if (!th->trap_hidden)
		return;
	th->trap_hidden = false;
	if (th->state == TH_STOPPED && thread_sigmask(th, &mask) == 0 &&
	    was_blocked(th, mask))
		thread_set_sigmask(th, mask | SIGBIT(SIGTRAP));
}

int
sigtrap_read(struct thread *th, uint64_t action[ACTION_WORDS])
{
	return action_call(th, false, action);
}

void
sigtrap_save(struct thread *th)
{
	struct proc *p = th->proc;

	if (p->guarded) /* it would be ours */
		return;
	p->trap_saved =
	    p->trap_caught && action_call(th, false, p->trap_action) == 0;
	if (p->trap_saved)
		action_is(p, SIGTRAP, p->trap_action);
}

/* What the program does with SIGTRAP now, for the hits to come. */
static void
action_look(struct thread *th, uint64_t now)
{
	struct proc *p = th->proc;
	struct proc_status st;

	if (p->guarded ||
	    (p->trap_looked != 0 && now - p->trap_looked < LOOK_MS))
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
	uint64_t mask, now = sigtrap_now_ms();

	if (now - th->mask_looked < MASK_MS && th->mask_known &&
	    !th->proc->space->mask_unseen &&
	    (th->sigmask & SIGBIT(SIGTRAP)) == 0 && !th->proc->trap_ignored)
		return;
	if (th->state != TH_STOPPED || thread_sigmask(th, &mask) < 0)
		return;
	th->mask_looked = now;
	bool blocked = was_blocked(th, mask);
	uint64_t was = mask | (blocked ? SIGBIT(SIGTRAP) : 0);
	if (was != th->sigmask || !th->mask_known)
		mask_becomes(th, was);
	th->trap_hidden &= blocked && !th->proc->space->mask_unseen;
	if (blocked && !th->trap_hidden && (mask & SIGBIT(SIGTRAP)) == 0) {
		th->trap_hidden = can_hide(th, mask);
		if (!th->trap_hidden)
			thread_set_sigmask(th, th->sigmask);
	}
	/* Also where it was hidden: it may have been blocked since, unseen. */
	if (blocked || th->proc->trap_ignored)
		action_restore(th);
	else if (!th->proc->space->sig_watched)
		action_look(th, now);
	if (blocked)
		keep_pending(th);
}

/* ---- what is seen ---- */

/* Read how a process and its threads treat SIGTRAP now. */
static void
begin_proc(struct proc *p)
{
	proc_refresh(p);
	if (p->guarded && p->trap_caught)
		action_is(p, SIGTRAP, p->trap_action);
	vec_foreach(at, &p->threads) {
		struct thread *th = *at;
		uint64_t mask;
		/* An int3 that nobody has looked at has changed it. */
		if (th->state != TH_STOPPED || th->asleep || th->trap_hidden ||
		    (th->queued != 0 && th->stop == EV_TRAP) ||
		    thread_sigmask(th, &mask) < 0)
			continue;
		th->mask_known = false;
		mask_becomes(th, mask);
	}
	for (size_t i = 0;
	     p->trap_caught && !p->trap_saved && i < p->threads.len; i++)
		sigtrap_save(p->threads.at[i]);
	vec_foreach(th, &p->threads)
		sigtrap_hide(*th);
}

void
sigtrap_begin(struct space *sp)
{
	vec_foreach(p, &sp->procs)
		begin_proc(*p);
}

void
sigtrap_inherit(const struct thread *parent, struct thread *th)
{
	th->sigmask = parent->sigmask;
	th->mask_known = parent->mask_known;
	th->trap_hidden = parent->trap_hidden;
}

/*
 * C libraries block everything while they make a thread or a process, which
 * then gives itself the mask that its maker had before.  Neither is seen.
 */
void
sigtrap_born(struct thread *th)
{
	bool inherits = th->mask_known;
	uint64_t mask;

	th->mask_known = thread_sigmask(th, &mask) == 0;
	if (!th->mask_known)
		return;
	if (th->trap_hidden)
		mask |= SIGBIT(SIGTRAP);
	th->mask_before = mask;
	if (!inherits || (mask | NEVER_BLOCKED) != ~UINT64_C(0))
		th->sigmask = mask;
}

void
sigtrap_mask_set(struct thread *th, int how, uint64_t set)
{
	uint64_t mask = th->sigmask;

	switch (how) {
	case SIG_BLOCK: mask |= set; break;
	case SIG_UNBLOCK: mask &= ~set; break;
	default: mask = set;
	}
	mask_becomes(th, mask);
}

void
sigtrap_mask_undo(struct thread *th)
{
	uint64_t mask = th->mask_before;

	th->mask_before = th->sigmask;
	th->sigmask = mask;
}

void
sigtrap_action_set(
    struct thread *th, int sig, const uint64_t action[ACTION_WORDS])
{
	if (sig == SIGTRAP)
		sigtrap_becomes(th->proc, action);
	else
		action_is(th->proc, sig, action);
}

void
sigtrap_becomes(struct proc *p, const uint64_t action[ACTION_WORDS])
{
	action_is(p, SIGTRAP, action);
	memcpy(p->trap_action, action, sizeof(p->trap_action));
	p->trap_saved = true;
	p->trap_ignored = action[ACTION_HANDLER] == HANDLER_IGNORE;
	p->trap_caught =
	    !p->trap_ignored && action[ACTION_HANDLER] != HANDLER_DEFAULT;
}

/* A SIGTRAP that was sent is delivered: it becomes pending where it is blocked.
 * One that an instruction raises kills who blocks it. */
static void
sent(struct thread *th)
{
	siginfo_t si;

	if (thread_siginfo(th, &si) < 0 || si.si_code > 0)
		return;
	th->proc->trap_sent = true;
	sigtrap_show(th);
}

bool
sigtrap_delivered(struct thread *th)
{
	struct proc *p = th->proc;
	int sig = th->sig;

	if (sig <= 0 || sig > SIGNALS)
		return false;
	if (sig == SIGTRAP && th->trap_hidden)
		sent(th);
	uint64_t mask = p->handler_mask[sig - 1];
	th->mask_looked = 0; /* a handler may run, in sigsuspend()'s mask */
	if (sig == SIGTRAP && p->trap_caught && p->trap_saved &&
	    (p->trap_action[ACTION_FLAGS] & SA_RESETHAND) != 0) {
		p->trap_action[ACTION_HANDLER] = HANDLER_DEFAULT;
		p->guarded = false; /* it has the same flag */
		sigtrap_action_set(th, SIGTRAP, p->trap_action);
	}
	if (mask == 0)
		return false;
	mask_becomes(th, th->sigmask | mask);
	return is_apart(th->mask_before) || is_apart(th->sigmask);
}

bool
sigtrap_apart(const struct thread *th)
{
	const struct proc *p = th->proc;

	return p->trap_caught || p->trap_ignored || is_apart(th->sigmask);
}

bool
sigtrap_blocked(const struct thread *th)
{
	return th->mask_known && !th->trap_hidden &&
	    (th->sigmask & SIGBIT(SIGTRAP)) != 0;
}
