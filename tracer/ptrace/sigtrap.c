/*
 * Restores what an int3 changes in the program: SIGTRAP's bit in the signal
 * mask, and SIGTRAP's disposition.
 *
 * force_sig_info_to_task() (kernel/signal.c) raises the SIGTRAP of an int3 so
 * that it cannot be missed.  If the signal is blocked, the kernel unblocks it.
 * If it is blocked or ignored, the handler becomes SIG_DFL; flags, mask and
 * restorer of the action stay.  This happens before the tracer sees the stop,
 * and the stop does not show it.  So dtrap must know mask and disposition
 * before the hit:
 *
 *	disposition	It is read when dtrap attaches to the process, and again
 *			when its space gets its first probe.  After that sigwatch.c
 *			sees every change.
 *	mask		It is read at the same times for each thread, and when a
 *			thread is created.  sigwatch.c sees the calls that change
 *			it.  The loop sees that a signal is delivered; which signals
 *			its handler blocks is known from the sigaction() that was
 *			seen.  The handler's return is watched if that is necessary.
 *
 * The known mask is compared with the kernel's by one PTRACE_GETSIGMASK: at
 * every hit of a thread that blocks SIGTRAP or has been sent a signal; in other
 * threads at a hit if the last comparison was MASK_MS ago, or at every hit if
 * masks are no longer watched.
 *
 * If the mask without SIGTRAP is the known one, or the one before that, the bit
 * of SIGTRAP is taken from it.  Better evidence is needed if that bit is set,
 * or if masks are not watched.  If dtrap's handler of inject/trap/ was
 * installed, dtrap looks whether it still is: an int3 that met a blocked
 * SIGTRAP has removed it.
 *
 * If the mask is another one, a change was not seen: by sigsuspend() and a
 * handler, by syscall(3), or in a program that changes its mask so often that
 * it is not watched any more.  Then the bit is guessed from the other signals:
 * a thread that blocks SIGILL, SIGBUS, SIGFPE and SIGSEGV is assumed to block
 * all signals.
 *
 * A thread that blocks SIGTRAP would die at its first int3 after a sudden end
 * of dtrap, in spite of the handler.  So dtrap hides the bit from the kernel
 * (MASK_HIDDEN): the thread has SIGTRAP in its mask, the kernel's mask has not.
 * This is done if the handler of inject/trap/ is installed, and if the program
 * does not use SIGTRAP but only blocks all signals.  A C library that blocks
 * all signals for a moment is such a case, too, even if the program uses
 * SIGTRAP.  The bit is hidden
 *
 *	when dtrap attaches
 *	at the call that blocks it, which dtrap makes instead of the kernel
 *	(trapcall_mask()), or, if it cannot, at the end of that call
 *	(hide_after)
 *	at the first hit, if that call was not seen.  That hit has reset the action
 *	for all threads, until dtrap restores it; so this must be rare.
 *
 * It is shown to the kernel again
 *
 *	when the program reads or changes its mask (sigwatch.c)
 *	when the thread executes a program, and when it is detached
 *	when another process sends a SIGTRAP: the signal becomes pending, as it
 *	should, and is no longer hidden in this process
 *
 * If a marker of sigwatch.c could not be placed, or if no probe has a site yet,
 * the disposition is read from /proc at a hit, at most every LOOK_MS
 * (trapaction.c).
 *
 * If a SIGTRAP is pending for a thread that blocks it, and the thread executes
 * an int3, then the int3's SIGTRAP is lost, because a standard signal is queued
 * only once.  dtrap gets the stop for the pending one.  It makes that signal
 * pending again, with the same siginfo (trapqueue.c).
 *
 * If a signal handler is called while the bit is hidden, the mask in its signal
 * frame lacks the bit, too.  Frames are corrected when the thread is detached
 * (sigframe.c of the machine).  If dtrap was killed, the next tracer corrects
 * masks and frames, by the list in the area.
 *
 * Limits.  While the bit is hidden, /proc shows a mask without it.  After a
 * sudden end of dtrap the kernel reports such a mask to the program, too; if
 * the program sets this mask again, the bit is lost.
 *
 * If SIGTRAP alone was blocked or unblocked by a call that was not seen (see
 * sigwatch.c), the mask is restored wrongly.  Between the hit and the repair, a
 * SIGTRAP from another process may be delivered although it is blocked.
 * Without dtrap's handler (-x unprotected), the repair discards a SIGTRAP that
 * is pending and both blocked and ignored.  A SIGTRAP that is sent to a thread
 * at the moment in which it executes an int3 may be merged with the int3's.
 */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#include "dlang/base/clock.h"
#include "dlang/base/log.h"
#include "tracer/ptrace/remote.h"
#include "tracer/ptrace/super.h"
#include "tracer/ptrace/trapqueue.h"

#define MASK_MS 4

/* Is the stop for a SIGTRAP that was pending, and not for that of the int3? */
static bool
met_pending(struct thread *th, siginfo_t *si)
{
	return th->stop.kind == EV_TRAP && thread_siginfo(th, si) == 0 &&
	    trapqueue_is_sent(si);
}

/* Was SIGTRAP blocked before the hit, which has left this mask?  The answer is
 * taken from whether the hit has removed dtrap's handler, if that can be found
 * out, or from a pending SIGTRAP.  Neither is checked if the mask is known and
 * does not block SIGTRAP. */
static bool
hit_blocked(struct thread *th, uint64_t mask)
{
	siginfo_t si;
	bool blocked = trapmask_was_blocked(th, mask), reset;
	bool known =
	    th->proc->space->masks_watched && trapmask_is_recent(th, mask);

	/* If the mask came from a signal frame in which the bit was hidden, the
	 * int3 has met SIGTRAP unblocked. */
	if (!trapmask_is_hidden(th) && (blocked || !known) &&
	    sigtrap_tells(th, &reset) &&
	    (reset || !th->mask.frames_due || !trapmask_seems_blocked(mask)))
		return reset && (blocked || !trapmask_another_is_at_one(th));
	return blocked || (!known && met_pending(th, &si));
}

static int
action_call(struct thread *th, int sig, uint64_t act, const uint64_t *set,
    uint64_t *old)
{
	uint64_t words[ACTION_WORDS] = { 0 };
	int64_t result = 0;

	if (set != NULL)
		memcpy(words, set, sizeof(words));
	const uint64_t args[6] = { (uint64_t)sig,
		set != NULL ? REMOTE_DATA : act, old != NULL ? REMOTE_DATA : 0,
		sizeof(uint64_t) };
	int r = set != NULL || old != NULL ?
	    remote_syscall_data(
		th, SYS_rt_sigaction, args, words, sizeof(words), &result) :
	    remote_syscall(th, SYS_rt_sigaction, args, &result);
	if (r == 0 && result < 0)
		r = (int)result;
	if (r == 0 && old != NULL)
		memcpy(old, words, sizeof(words));
	return r;
}

int
sigtrap_call(
    struct thread *th, uint64_t act, const uint64_t *set, uint64_t *old)
{
	return action_call(th, SIGTRAP, act, set, old);
}

/* The hit has set the handler to SIG_DFL: restore it. */
static void
action_restore(struct thread *th)
{
	struct proc *p = th->proc;
	uint64_t action[ACTION_WORDS];
	int r = 0;

	if (proc_guarded(p)) {
		p->super->hooks.trap_lost(th);
		return;
	}
	if (p->trap.does == TRAP_DEFAULT)
		return;
	if (!p->trap.saved && p->trap.does == TRAP_CAUGHT) {
		r = -ENODATA;
	} else if (!p->trap.saved &&
	    (r = sigtrap_call(th, 0, NULL, action)) == 0) {
		action[ACTION_HANDLER] = HANDLER_IGNORE;
		sigtrap_becomes(p, action);
	}
	if (r == 0)
		r = sigtrap_call(th, 0, p->trap.action, NULL);
	if (r < 0)
		LOG("sigtrap", "%d: SIGTRAP's action not restored: %s",
		    (int)th->tid, strerror(-r));
}

/* If the stop is for a SIGTRAP that was pending, make it pending again.  If no
 * call can be made in the thread, deliver it: the kernel queues a signal that a
 * tracer delivers and the thread blocks (ptrace_signal() in kernel/signal.c),
 * unless another one of the number is pending by then. */
static void
keep_pending(struct thread *th, bool blocked)
{
	siginfo_t si;

	if (!met_pending(th, &si))
		return;
	sigtrap_show(th);
	trapaction_sent(th->proc);
	stop_signal(th, !trapqueue_keep(th) && blocked ? SIGTRAP : 0);
}

int
sigtrap_save(struct thread *th)
{
	struct proc *p = th->proc;
	uint64_t action[ACTION_WORDS];

	if (proc_guarded(p)) /* the kernel has dtrap's action */
		return 0;
	int r = sigtrap_call(th, 0, NULL, action);
	if (r == 0)
		sigtrap_becomes(p, action);
	else
		trapaction_unsaved(p);
	return r;
}

void
sigtrap_save_caught(struct proc *p)
{
	for (size_t i = 0; i < p->threads.len; i++)
		if (p->trap.does == TRAP_CAUGHT && !p->trap.saved)
			sigtrap_save(p->threads.at[i]);
}

/* SIGTRAP was blocked before the hit.  Has the hit removed the handler?  If the
 * bit was hidden it has not, unless the thread has blocked SIGTRAP by a call
 * that was not seen. */
static bool
has_reset(const struct thread *th)
{
	bool reset;

	return !trapmask_is_hidden(th) || !trapmask_ask_reset(th, &reset) ||
	    reset;
}

/* Mend what the hit has done to mask and action.  Was SIGTRAP blocked? */
static bool
mend(struct thread *th)
{
	uint64_t mask, now = clock_coarse_ms();

	struct proc *p = th->proc;
	bool reset = p->trap.does == TRAP_IGNORED &&
	    !proc_guarded(p); /* every hit resets it */

	if (now - th->mask.looked < MASK_MS && th->mask.state != MASK_UNKNOWN &&
	    p->space->masks_watched && !p->space->mask_unseen &&
	    (th->mask.now & SIGBIT(SIGTRAP)) == 0 && !reset)
		return false;
	if (!thread_at_hand(th) || thread_sigmask(th, &mask) < 0)
		return false;
	trapmask_look(th, mask, now);
	bool blocked = hit_blocked(th, mask);
	trapmask_mend(th, mask, blocked);
	if (blocked)
		keep_pending(th, true);
	if ((blocked && has_reset(th)) || reset)
		action_restore(th);
	else if (proc_guarded(p))
		p->super->hooks.trap_check(th);
	else if (!p->space->sig_watched && trapaction_look(th, now) &&
	    p->trap.does == TRAP_CAUGHT)
		sigtrap_save(th);
	return blocked;
}

void
thread_mend_sigtrap(struct thread *th)
{
	bool blocked = mend(th);

	/* A SIGTRAP that was sent may have come in place of the int3's, or since:
	 * the calls that mend() makes stop the thread again. */
	keep_pending(th, blocked);
}

/* Read how a process and its threads treat SIGTRAP now. */
static void
begin_proc(struct proc *p)
{
	proc_refresh(p);
	if (proc_guarded(p) && p->trap.does == TRAP_CAUGHT)
		trapaction_is(p, SIGTRAP, p->trap.action);
	vec_foreach(th, &p->threads)
		trapmask_begin(*th);
	sigtrap_save_caught(p);
	vec_foreach(th, &p->threads)
		sigtrap_hide(*th);
}

void
sigtrap_begin(struct space *sp)
{
	vec_foreach(p, &sp->procs)
		begin_proc(*p);
}

/* Is the thread about to perform the program's action for a SIGTRAP, whose
 * handler runs with SIGTRAP blocked?  Dtrap's handler begins without. */
static bool
is_before_handler(struct thread *th)
{
	const struct proc *p = th->proc;
	const struct uregs *regs;

	return proc_guarded(p) &&
	    (p->trap.handler_mask[SIGTRAP - 1] & SIGBIT(SIGTRAP)) != 0 &&
	    (regs = thread_regs(th)) != NULL &&
	    regs->r[UREG_PC] == p->handler.action[ACTION_HANDLER];
}

/* The kernel blocks SIGTRAP in the thread from here on. */
static void
block(struct thread *th)
{
	uint64_t mask;

	if (thread_sigmask(th, &mask) == 0)
		thread_set_sigmask(th, mask | SIGBIT(SIGTRAP));
}

/* A SIGTRAP is about to be delivered.  If a process has sent it: if the program
 * blocks it (hidden, or in the handler that is called next), it becomes pending;
 * if the program ignores it, it is discarded.  A SIGTRAP that an instruction has
 * raised is delivered, even if it is blocked. */
static void
sent(struct thread *th)
{
	struct proc *p = th->proc;
	siginfo_t si;
	bool next = is_before_handler(th);
	bool blocks = trapmask_is_hidden(th) || next;

	if ((!blocks && p->trap.does != TRAP_IGNORED) ||
	    thread_siginfo(th, &si) < 0 || !trapqueue_is_sent(&si))
		return;
	if (blocks) {
		trapaction_sent(p);
		sigtrap_show(th);
		if (next)
			block(th);
		/* The bit is shown now, so the kernel queues the signal again,
		 * for the process or the thread as before; but not if another
		 * one is pending for the thread. */
		if (trapqueue_has(th) && trapqueue_keep(th))
			stop_signal(th, 0);
	} else if (proc_guarded(p)) {
		stop_signal(th, 0);
	}
}

bool
sigtrap_delivered(struct thread *th)
{
	struct proc *p = th->proc;
	int sig = th->stop.sig;

	if (sig <= 0 || sig > SIGNALS)
		return false;
	uint64_t mask = p->trap.handler_mask[sig - 1], now = 0;
	trapmask_doubt(th); /* a handler may run, in sigsuspend()'s mask */
	/* This stop is not for an int3, so the kernel's mask is right: the
	 * handler will return to it. */
	if (proc_guarded(p) && th->mask.state != MASK_UNKNOWN &&
	    thread_sigmask(th, &now) == 0 &&
	    (now = trapmask_of_frame(th, now)) != th->mask.now)
		trapmask_becomes(th, now);
	if (sig == SIGTRAP) {
		sent(th);
		if (p->super->hooks.trap_delivers != NULL)
			p->super->hooks.trap_delivers(th);
	}
	if (mask == 0)
		return false;
	trapmask_becomes(th, th->mask.now | mask);
	return trapmask_is_apart(th->mask.before[0]) ||
	    trapmask_is_apart(th->mask.now);
}

static bool
is_caught(const struct thread *th, int sig)
{
	struct proc_status st;

	return procfs_status(th->tid, &st) == 0 &&
	    (st.sig_caught & SIGBIT(sig)) != 0;
}

/*
 * It is not known which signals a handler blocks that was installed before
 * dtrap attached, or by a call that was not seen.  To read the actions of all
 * signals at the attach would stop the process for too long.  So the thread is
 * stopped when the handler has been called: the kernel's mask is then that of the
 * handler.  This is not needed in a process with one thread and with dtrap's
 * handler, because there a hit shows whether SIGTRAP was blocked.
 */
void
sigtrap_learn(struct thread *th)
{
	struct proc *p = th->proc;
	uint64_t mask, action[ACTION_WORDS];
	int sig = th->stop.sig;

	if (sig <= 0 || sig > SIGNALS || sig == SIGTRAP || th->stop.held ||
	    th->stop.queued > 0 || (p->trap.handler_known & SIGBIT(sig)) != 0 ||
	    !p->space->masks_watched ||
	    (proc_guarded(p) && p->threads.len == 1) || !is_caught(th, sig))
		return;
	stop_hold(th, true); /* otherwise it would be resumed at once */
	thread_deliver(th);
	stop_hold(th, false);
	if (!thread_stopped(th) || th->stop.kind != EV_STOP ||
	    th->stop.queued > 0 || thread_sigmask(th, &mask) < 0)
		return;
	if (trapmask_is_hidden(th))
		mask |= SIGBIT(SIGTRAP);
	trapmask_becomes(th, mask);
	if (action_call(th, sig, 0, NULL, action) == 0)
		trapaction_is(p, sig, action);
}
