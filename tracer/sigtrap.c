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
 * see: it goes back to where it was, with its own siginfo (trapqueue.c).
 *
 * The frames of handlers that were called meanwhile have a mask without it, too:
 * they are mended when the thread is let go (x86_64/sigframe.c).  After our death
 * the next tracer does both, by the list in the area.
 *
 * Limits.  While the bit is hidden, /proc shows a mask without it.  Where such a
 * mask is put back and nobody sees it, the bit is lost: in a child that the
 * thread has by fork() and that is not followed, where the C library puts back
 * what it found before.
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
#include <time.h>

#include "dlang/base/log.h"
#include "inject/tracepoint.h"
#include "inject/trapset.h"
#include "tracer/remote.h"
#include "tracer/super_impl.h"
#include "tracer/trapguard.h"
#include "tracer/trapqueue.h"

/* Ten looks a second cost less than one part in a thousand; the mask is
 * cheaper to look at. */
#define LOOK_MS         100
#define MASK_MS         4

#define HANDLER_DEFAULT ((uint64_t)(uintptr_t)SIG_DFL)
#define HANDLER_IGNORE  ((uint64_t)(uintptr_t)SIG_IGN)

/* No mask has them. */
#define NEVER_BLOCKED (SIGBIT(SIGKILL) | SIGBIT(SIGSTOP))

uint64_t
sigtrap_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* What tells one mask from another, but for SIGTRAP: not the signals that C
 * libraries keep for themselves, and unblock in a thread that they make. */
#define TELLING (~(SIGBIT(SIGTRAP) | SIGBIT(32) | SIGBIT(33)))

/* The signals that programs treat like SIGTRAP. */
#define KIN (SIGBIT(SIGILL) | SIGBIT(SIGBUS) | SIGBIT(SIGFPE) | SIGBIT(SIGSEGV))

/* By what is blocked besides: is SIGTRAP? */
static bool
seems_blocked(uint64_t mask)
{
	return (mask & KIN) == KIN;
}

/* Does the mask treat SIGTRAP in a way that it does not tell itself? */
static bool
is_apart(uint64_t mask)
{
	return ((mask & SIGBIT(SIGTRAP)) != 0) != seems_blocked(mask);
}

/* Was SIGTRAP blocked before the hit that left this mask, by what is known? */
static bool
was_blocked(const struct thread *th, uint64_t mask)
{
	if (th->mask_known && ((th->sigmask ^ mask) & TELLING) == 0)
		return (th->sigmask & SIGBIT(SIGTRAP)) != 0;
	for (size_t i = 0; th->mask_known && i < MASKS_BEFORE; i++)
		if (((th->masks_before[i] ^ mask) & TELLING) == 0)
			return (th->masks_before[i] & SIGBIT(SIGTRAP)) != 0;
	/* A handler that is not known adds to the mask. */
	if (th->mask_known && (th->sigmask & TELLING & ~mask) == 0 &&
	    (th->sigmask & SIGBIT(SIGTRAP)) != 0)
		return true;
	return seems_blocked(mask);
}

/* Is another thread that blocks it at an int3 that may have reset our handler
 * since this one ran, and is not mended yet? */
static bool
another_is_at_one(const struct thread *th)
{
	vec_foreach(at, &th->proc->threads) {
		const struct thread *other = *at;
		if (other == th || !sigtrap_blocked(other))
			continue;
		if (other->state == TH_STOPPED ?
			other->queued != 0 && other->stop == EV_TRAP :
			procfs_state(other->tid) == 't')
			return true;
	}
	return false;
}

/* Has a SIGTRAP that was pending come in the place of the int3's? */
static bool
met_pending(struct thread *th, siginfo_t *si)
{
	return th->stop == EV_TRAP && thread_siginfo(th, si) == 0 &&
	    trapqueue_is_sent(si);
}

/* The same, by what the hit has done to our handler where that can tell, or to
 * what was pending.  Not asked where the mask is one that is known, and lets
 * SIGTRAP in. */
static bool
hit_blocked(struct thread *th, uint64_t mask)
{
	siginfo_t si;
	bool blocked = was_blocked(th, mask), reset;
	bool known = th->mask_known && th->proc->space->masks_watched &&
	    (((th->sigmask ^ mask) & TELLING) == 0 ||
		((th->masks_before[0] ^ mask) & TELLING) == 0);

	/* One that a frame had hidden meets it as if it were not blocked. */
	if (!th->trap_hidden && (blocked || !known) &&
	    sigtrap_tells(th, &reset) &&
	    (reset || !th->frames_due || !seems_blocked(mask)))
		return reset && (blocked || !another_is_at_one(th));
	return blocked || (!known && met_pending(th, &si));
}

static void
mask_becomes(struct thread *th, uint64_t mask)
{
	uint64_t *before = th->masks_before;

	if (!th->mask_known)
		for (size_t i = 0; i < MASKS_BEFORE; i++)
			before[i] = mask;
	else if (before[0] != th->sigmask)
		memmove(&before[1], &before[0],
		    (MASKS_BEFORE - 1) * sizeof(*before));
	if (th->mask_known)
		before[0] = th->sigmask;
	th->sigmask = mask & ~NEVER_BLOCKED;
	th->mask_known = true;
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
		trapguard_lost(th);
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
}

/* One that was pending shall be so again.  If no call can be made in the thread the kernel queues it,
 * as it does with what a tracer delivers though it is blocked (ptrace_signal()
 * in kernel/signal.c): unless another has come meanwhile. */
static void
keep_pending(struct thread *th, bool blocked)
{
	siginfo_t si;

	if (!met_pending(th, &si))
		return;
	sigtrap_show(th);
	th->proc->trap_sent = true;
	th->sig = !trapqueue_keep(th) && blocked ? SIGTRAP : 0;
}

/* Is SIGTRAP nothing special for this mask?  Where it is treated otherwise than
 * its kin somebody has a use for it, and no heuristics bring it back. */
static bool
has_no_use(const struct proc *p, uint64_t mask)
{
	return p->guarded && seems_blocked(mask) && !p->trap_caught &&
	    !p->trap_sent && p->space->sig_watched && p->space->masks_watched &&
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

/* What is hidden is in the area: whoever comes after our death shows it. */
static bool
list_hidden(struct thread *th, uint64_t mask)
{
	struct tptable *tab = th->proc->space->tab;

	if (tab == NULL) /* a child's, which sigtrap_list() is called for */
		return false;
	struct trapset *ts = tptable_traps(tab);
	return trapset_add(ts, TRAP_MASK, (uint64_t)th->tid,
		   (uint32_t)(mask & ~SIGBIT(SIGTRAP))) == 0 &&
	    trapset_flush(ts) == 0;
}

bool
sigtrap_mask_call(
    struct thread *th, int how, const uint64_t *set, uint64_t *old)
{
	uint64_t mask, next;

	if (!th->trap_hidden || th->proc->filtered ||
	    th->proc->super->want_syscalls || thread_sigmask(th, &mask) < 0)
		return false;
	next = *old = mask | SIGBIT(SIGTRAP);
	if (set != NULL && how == SIG_BLOCK)
		next |= *set;
	else if (set != NULL && how == SIG_UNBLOCK)
		next &= ~*set;
	else if (set != NULL && how == SIG_SETMASK)
		next = *set & ~NEVER_BLOCKED;
	else if (set != NULL)
		return false;
	/* What is blocked anew may be pending for the process, and another
	 * thread is to be woken for it: the kernel's
	 * retarget_shared_pending(), which is not for tracers. */
	if ((next & ~*old) != 0 || (next & SIGBIT(SIGTRAP)) == 0 ||
	    !seems_blocked(next))
		return false;
	/* Of a thread that has just been made the list has the mask of then. */
	if (!list_hidden(th, next) ||
	    thread_set_sigmask(th, next & ~SIGBIT(SIGTRAP)) < 0)
		return false;
	mask_becomes(th, next);
	return true;
}

static void
unlist_hidden(struct thread *th)
{
	if (th->proc->space->tab != NULL)
		trapset_drop(tptable_traps(th->proc->space->tab), TRAP_MASK,
		    (uint64_t)th->tid);
}

void
sigtrap_hide(struct thread *th)
{
	uint64_t mask;

	if (!sigtrap_blocked(th) || th->state != TH_STOPPED ||
	    thread_sigmask(th, &mask) < 0 || !can_hide(th, mask) ||
	    !list_hidden(th, mask))
		return;
	th->trap_hidden = thread_set_sigmask(th, mask & ~SIGBIT(SIGTRAP)) == 0;
	if (!th->frames_due)
		sigframes_change(th, KIN, SIGBIT(SIGTRAP), false);
	th->frames_due = true;
}

void
sigtrap_show_frames(struct thread *th)
{
	unsigned n = sigframes_change(th, KIN, SIGBIT(SIGTRAP), true);

	th->frames_due = false;
	LOG("sigtrap", "%d: %u frames", (int)th->tid, n);
}

void
sigtrap_list(struct thread *th)
{
	uint64_t mask;

	if (th->trap_hidden && thread_sigmask(th, &mask) == 0)
		list_hidden(th, mask);
}

void
sigtrap_ended(struct thread *th)
{
	if (th->trap_hidden)
		unlist_hidden(th);
}

void
sigtrap_show(struct thread *th)
{
	uint64_t mask;

	if (!th->trap_hidden)
		return;
	th->trap_hidden = false;
	unlist_hidden(th);
	if (th->state == TH_STOPPED && thread_sigmask(th, &mask) == 0 &&
	    was_blocked(th, mask))
		thread_set_sigmask(th, mask | SIGBIT(SIGTRAP));
}

/* Has an int3 taken our handler's place in the kernel?  False: nobody says. */
static bool
ask_reset(const struct thread *th, bool *reset)
{
	const struct proc *p = th->proc;
	struct proc_status st;

	if (!p->guarded || p->guard_down || procfs_status(th->tid, &st) < 0)
		return false;
	*reset = (st.sig_caught & SIGBIT(SIGTRAP)) == 0;
	return true;
}

bool
sigtrap_tells(const struct thread *th, bool *reset)
{
	/* Where another's hit has been mended since this one ran, it may have
	 * been with it. */
	return th->losses == th->proc->guard_losses && ask_reset(th, reset);
}

bool
sigtrap_is_reset(const struct thread *th)
{
	bool reset;

	return ask_reset(th, &reset) && reset;
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

void
thread_mend_sigtrap(struct thread *th)
{
	uint64_t mask, now = sigtrap_now_ms();

	struct proc *p = th->proc;
	bool reset = p->trap_ignored && !p->guarded; /* by every hit */

	if (now - th->mask_looked < MASK_MS && th->mask_known &&
	    p->space->masks_watched && !p->space->mask_unseen &&
	    (th->sigmask & SIGBIT(SIGTRAP)) == 0 && !reset)
		return;
	if (th->state != TH_STOPPED || thread_sigmask(th, &mask) < 0)
		return;
	th->mask_looked = now;
	/* In a handler only, from which it has returned. */
	th->trap_hidden &= seems_blocked(mask) && was_blocked(th, mask);
	bool blocked = hit_blocked(th, mask);
	uint64_t was = mask | (blocked ? SIGBIT(SIGTRAP) : 0);
	if (was != th->sigmask || !th->mask_known)
		mask_becomes(th, was);
	th->trap_hidden &= blocked && !p->space->mask_unseen;
	if (blocked && !th->trap_hidden && (mask & SIGBIT(SIGTRAP)) == 0) {
		th->trap_hidden = can_hide(th, mask) && list_hidden(th, mask);
		th->frames_due |= th->trap_hidden;
		if (!th->trap_hidden)
			thread_set_sigmask(th, th->sigmask);
	}
	if (blocked)
		keep_pending(th, true);
	/* Also where it was hidden: it may have been blocked since, unseen. */
	if (blocked || reset)
		action_restore(th);
	else if (p->guarded)
		trapguard_check(th);
	else if (!p->space->sig_watched)
		action_look(th, now);
	/* One that came meanwhile is in the place of the int3's now. */
	keep_pending(th, blocked);
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
		    th->stop == EV_TRAP || thread_sigmask(th, &mask) < 0)
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
	th->frames_due = parent->frames_due;
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
	if (th->trap_hidden) {
		list_hidden(th, mask);
		mask |= SIGBIT(SIGTRAP);
	}
	for (size_t i = 0; i < MASKS_BEFORE; i++)
		th->masks_before[i] = mask;
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

/* A handler returns, or has returned, to a mask of the kernel's: what that stands
 * for.  The frame may have been made while the bit was hidden, which it then is
 * again; or that was so in the handler only. */
static uint64_t
mask_of_frame(struct thread *th, uint64_t mask)
{
	bool hides = (mask & SIGBIT(SIGTRAP)) == 0 &&
	    (th->trap_hidden || th->frames_due) && seems_blocked(mask) &&
	    was_blocked(th, mask);

	th->trap_hidden = hides && (th->trap_hidden || list_hidden(th, mask));
	return th->trap_hidden ? mask | SIGBIT(SIGTRAP) : mask;
}

void
sigtrap_mask_back(struct thread *th, uint64_t mask)
{
	mask_becomes(th, mask_of_frame(th, mask));
}

void
sigtrap_mask_undo(struct thread *th)
{
	uint64_t mask = th->masks_before[0];

	th->masks_before[0] = th->sigmask;
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

/* Of an action the kernel keeps nothing but that it ignores the signal
 * (flush_signal_handlers()). */
static void
action_flushed(struct proc *p)
{
	const uint64_t left[ACTION_WORDS] = {
		p->trap_ignored ? HANDLER_IGNORE : HANDLER_DEFAULT
	};

	sigtrap_becomes(p, left);
}

void
sigtrap_executed(struct proc *p)
{
	proc_refresh(p);
	action_flushed(p);
}

void
sigtrap_cleared(struct proc *p)
{
	/* Ours was in the place of an action that ignores it. */
	p->ignore_due = p->guarded && p->trap_ignored;
	p->guarded = false;
	action_flushed(p);
}

/* A SIGTRAP that was sent is delivered: it becomes pending where it is blocked,
 * and is nothing where it is ignored.  One that an instruction raises kills who
 * blocks it. */
static void
sent(struct thread *th)
{
	struct proc *p = th->proc;
	siginfo_t si;

	if ((!th->trap_hidden && !p->trap_ignored) ||
	    thread_siginfo(th, &si) < 0 || !trapqueue_is_sent(&si))
		return;
	if (th->trap_hidden) {
		p->trap_sent = true;
		sigtrap_show(th);
		/* The kernel queues it where it was, the process's or the
		 * thread's; but not behind another of the thread. */
		if (trapqueue_has(th) && trapqueue_keep(th))
			th->sig = 0;
	} else if (p->guarded) {
		th->sig = 0;
	}
}

bool
sigtrap_delivered(struct thread *th)
{
	struct proc *p = th->proc;
	int sig = th->sig;

	if (sig <= 0 || sig > SIGNALS)
		return false;
	uint64_t mask = p->handler_mask[sig - 1], now = 0;
	th->mask_looked = 0; /* a handler may run, in sigsuspend()'s mask */
	/* No int3 has changed it here: what the handler will return to. */
	if (p->guarded && th->mask_known && thread_sigmask(th, &now) == 0 &&
	    (now = mask_of_frame(th, now)) != th->sigmask)
		mask_becomes(th, now);
	if (sig == SIGTRAP) {
		sent(th);
		trapguard_delivers(th);
	}
	if (mask == 0)
		return false;
	mask_becomes(th, th->sigmask | mask);
	return is_apart(th->masks_before[0]) || is_apart(th->sigmask);
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
	int sig = th->sig;

	if (sig <= 0 || sig > SIGNALS || sig == SIGTRAP || th->held ||
	    th->queued > 0 || (p->handler_known & SIGBIT(sig)) != 0 ||
	    !p->space->masks_watched || (p->guarded && p->threads.len == 1))
		return;
	th->held = true; /* or its stop would be over at once */
	thread_deliver(th);
	th->held = false;
	if (th->state != TH_STOPPED || th->stop != EV_STOP || th->queued > 0 ||
	    thread_sigmask(th, &mask) < 0)
		return;
	if (th->trap_hidden)
		mask |= SIGBIT(SIGTRAP);
	mask_becomes(th, mask);
	if (action_call(th, sig, 0, NULL, action) == 0)
		action_is(p, sig, action);
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
