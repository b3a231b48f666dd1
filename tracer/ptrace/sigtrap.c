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
 * the bit; but where it is said to be blocked, or masks are not watched, and our
 * handler of inject/trap/ stands in the kernel, that tells: an int3 that met a
 * blocked SIGTRAP has taken it away.  If the mask is another (a change was not seen: sigsuspend() and a
 * handler, the raw syscall(3), a program that lost its watch because it changes
 * its mask all day) the bit is taken to be like the signals that programs treat
 * alike: who blocks SIGILL, SIGBUS, SIGFPE and SIGSEGV blocks everything.
 *
 * A thread that blocks SIGTRAP would die of the first int3 that it meets after
 * our death, whatever handler there is.  So the bit is hidden from the kernel
 * where the handler of inject/trap/ stands and the program has no use for the
 * signal, but blocks all there are (MASK_HIDDEN): from when we come, or from the
 * call that blocks it, which we make in the kernel's place (sigtrap_mask_call());
 * from the end of that call, where we cannot (hide_after); or, if it was not seen,
 * from the first hit.  A C library that blocks everything for a moment does so by
 * such a call, whoever has a use for the signal.  (Such a hit has the action reset, for all threads, until we have
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
 * see: it goes back to where it was, with its own siginfo (trapqueue.c).
 *
 * The frames of handlers that were called meanwhile have a mask without it, too:
 * they are mended when the thread is let go (sigframe.c of the machine).  After our death
 * the next tracer does both, by the list in the area.
 *
 * Limits.  While the bit is hidden, /proc shows a mask without it, and after our
 * death so does the kernel.  Where such a mask is put back then the bit is lost.
 *
 * A SIGTRAP that was blocked or unblocked by itself in a way that is not seen
 * (see sigwatch.c) is restored wrongly.  Between the hit and its repair a SIGTRAP
 * of somebody else may get through.  Where our handler is not (-x unprotected),
 * one that is pending while it is both blocked and ignored is discarded by the
 * repair.  A SIGTRAP that is sent to a thread in the moment when it
 * executes an int3 is one with it.
 */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#include "dlang/base/clock.h"
#include "dlang/base/log.h"
#include "inject/tracepoint.h"
#include "inject/trapset.h"
#include "tracer/ptrace/remote.h"
#include "tracer/ptrace/super.h"
#include "tracer/ptrace/trapqueue.h"

/* Ten looks a second cost less than one part in a thousand; the mask is
 * cheaper to look at. */
#define LOOK_MS 100
#define MASK_MS 4

/* Has a SIGTRAP that was pending come in the place of the int3's? */
static bool
met_pending(struct thread *th, siginfo_t *si)
{
	return th->stop.kind == EV_TRAP && thread_siginfo(th, si) == 0 &&
	    trapqueue_is_sent(si);
}

/* The same, by what the hit has done to our handler where that can tell, or to
 * what was pending.  Not asked where the mask is one that is known, and lets
 * SIGTRAP in. */
static bool
hit_blocked(struct thread *th, uint64_t mask)
{
	siginfo_t si;
	bool blocked = trapmask_was_blocked(th, mask), reset;
	bool known =
	    th->proc->space->masks_watched && trapmask_is_recent(th, mask);

	/* One that a frame had hidden meets it as if it were not blocked. */
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

/* The hit has made the handler SIG_DFL: back to what it was. */
static void
action_restore(struct thread *th)
{
	struct proc *p = th->proc;
	int r = 0;

	if (p->guarded) {
		p->super->hooks.trap_lost(th);
		return;
	}
	if (!p->trap_caught && !p->trap_ignored)
		return;
	if (p->trap_saved) {
		r = sigtrap_call(th, 0, p->trap_action, NULL);
	} else if (p->trap_caught) {
		r = -ENODATA;
	} else if ((r = sigtrap_call(th, 0, NULL, p->trap_action)) == 0) {
		p->trap_action[ACTION_HANDLER] = HANDLER_IGNORE;
		p->trap_saved = true;
		r = sigtrap_call(th, 0, p->trap_action, NULL);
	}
	if (r < 0)
		LOG("sigtrap", "%d: SIGTRAP's action not restored: %s",
		    (int)th->tid, strerror(-r));
}

/* One that was pending shall be so again.  If no call can be made in the thread
 * the kernel queues it, as it does with what a tracer delivers though it is
 * blocked (ptrace_signal() in kernel/signal.c): unless another has come
 * meanwhile. */
static void
keep_pending(struct thread *th, bool blocked)
{
	siginfo_t si;

	if (!met_pending(th, &si))
		return;
	sigtrap_show(th);
	th->proc->trap_sent = true;
	stop_signal(th, !trapqueue_keep(th) && blocked ? SIGTRAP : 0);
}

int
sigtrap_save(struct thread *th)
{
	struct proc *p = th->proc;
	uint64_t action[ACTION_WORDS];

	if (p->guarded) /* it would be ours */
		return 0;
	int r = sigtrap_call(th, 0, NULL, action);
	p->trap_saved = r == 0;
	if (r == 0)
		sigtrap_becomes(p, action);
	return r;
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
	if (p->trap_caught)
		sigtrap_save(th);
}

/* Of a hit that was met with SIGTRAP blocked: has it taken our handler?  Where
 * the bit is hidden it has not, but where it has been blocked since, unseen. */
static bool
has_reset(const struct thread *th)
{
	bool reset;

	return !trapmask_is_hidden(th) || !trapmask_ask_reset(th, &reset) ||
	    reset;
}

void
thread_mend_sigtrap(struct thread *th)
{
	uint64_t mask, now = clock_coarse_ms();

	struct proc *p = th->proc;
	bool reset = p->trap_ignored && !p->guarded; /* by every hit */

	if (now - th->mask.looked < MASK_MS && th->mask.state != MASK_UNKNOWN &&
	    p->space->masks_watched && !p->space->mask_unseen &&
	    (th->mask.now & SIGBIT(SIGTRAP)) == 0 && !reset) {
		keep_pending(th, false);
		return;
	}
	if (!thread_stopped(th) || thread_sigmask(th, &mask) < 0)
		return;
	trapmask_look(th, mask, now);
	bool blocked = hit_blocked(th, mask);
	trapmask_mend(th, mask, blocked);
	if (blocked)
		keep_pending(th, true);
	if ((blocked && has_reset(th)) || reset)
		action_restore(th);
	else if (p->guarded)
		p->super->hooks.trap_check(th);
	else if (!p->space->sig_watched)
		action_look(th, now);
	/* One that came meanwhile is in the place of the int3's now. */
	keep_pending(th, blocked);
}

/* Read how a process and its threads treat SIGTRAP now. */
static void
begin_proc(struct proc *p)
{
	proc_refresh(p);
	if (p->guarded && p->trap_caught)
		trapaction_is(p, SIGTRAP, p->trap_action);
	vec_foreach(th, &p->threads)
		trapmask_begin(*th);
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

/* A SIGTRAP that was sent is delivered: it becomes pending where it is blocked,
 * and is nothing where it is ignored.  One that an instruction raises kills who
 * blocks it. */
static void
sent(struct thread *th)
{
	struct proc *p = th->proc;
	siginfo_t si;

	if ((!trapmask_is_hidden(th) && !p->trap_ignored) ||
	    thread_siginfo(th, &si) < 0 || !trapqueue_is_sent(&si))
		return;
	if (trapmask_is_hidden(th)) {
		p->trap_sent = true;
		sigtrap_show(th);
		/* The kernel queues it where it was, the process's or the
		 * thread's; but not behind another of the thread. */
		if (trapqueue_has(th) && trapqueue_keep(th))
			stop_signal(th, 0);
	} else if (p->guarded) {
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
	uint64_t mask = p->handler_mask[sig - 1], now = 0;
	trapmask_doubt(th); /* a handler may run, in sigsuspend()'s mask */
	/* No int3 has changed it here: what the handler will return to. */
	if (p->guarded && th->mask.state != MASK_UNKNOWN &&
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

/*
 * Which signals a handler blocks that was there when we came is not known, and
 * asking for all of them would hold the process up.  So its thread stops when
 * the handler has been called, where the mask is that of the handler.  Where our
 * handler in the kernel tells what a hit has met nobody needs it.
 */
void
sigtrap_learn(struct thread *th)
{
	struct proc *p = th->proc;
	uint64_t mask, action[ACTION_WORDS];
	int sig = th->stop.sig;

	if (sig <= 0 || sig > SIGNALS || sig == SIGTRAP || th->stop.held ||
	    th->stop.queued > 0 || (p->handler_known & SIGBIT(sig)) != 0 ||
	    !p->space->masks_watched || (p->guarded && p->threads.len == 1))
		return;
	stop_hold(th, true); /* or its stop would be over at once */
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
