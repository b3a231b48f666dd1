/*
 * The known signal masks of threads, and hiding SIGTRAP in them; sigtrap.c
 * explains both.
 */
#include <string.h>

#include "dlang/base/log.h"
#include "inject/tracepoint.h"
#include "inject/trapset.h"
#include "tracer/ptrace/datawatch.h"
#include "tracer/ptrace/super.h"

/* The bits by which two masks are compared: not SIGTRAP, and not the signals
 * that C libraries use internally and unblock in a new thread. */
#define TELLING (~(SIGBIT(SIGTRAP) | SIGBIT(32) | SIGBIT(33)))

/* The signals that programs treat like SIGTRAP. */
#define KIN (SIGBIT(SIGILL) | SIGBIT(SIGBUS) | SIGBIT(SIGFPE) | SIGBIT(SIGSEGV))

/* Set whether the mask is known.  A known mask that is hidden stays hidden. */
static void
known(struct thread *th, bool is)
{
	if (!is)
		th->mask.state = MASK_UNKNOWN;
	else if (th->mask.state == MASK_UNKNOWN)
		th->mask.state = MASK_KNOWN;
}

static bool
is_known(const struct thread *th)
{
	return th->mask.state != MASK_UNKNOWN;
}

static void
hidden(struct thread *th, bool is)
{
	if (is)
		th->mask.state = MASK_HIDDEN;
	else if (th->mask.state == MASK_HIDDEN)
		th->mask.state = MASK_KNOWN;
}

bool
trapmask_is_hidden(const struct thread *th)
{
	return th->mask.state == MASK_HIDDEN;
}

/* Is SIGTRAP probably blocked, judging by the other signals in the mask? */
bool
trapmask_seems_blocked(uint64_t mask)
{
	return (mask & KIN) == KIN;
}

/* Does SIGTRAP's bit differ from the guess by the other signals? */
bool
trapmask_is_apart(uint64_t mask)
{
	return ((mask & SIGBIT(SIGTRAP)) != 0) != trapmask_seems_blocked(mask);
}

/* Was SIGTRAP blocked before the hit that left this mask, according to the
 * known masks? */
bool
trapmask_was_blocked(const struct thread *th, uint64_t mask)
{
	if (is_known(th) && ((th->mask.now ^ mask) & TELLING) == 0)
		return (th->mask.now & SIGBIT(SIGTRAP)) != 0;
	for (size_t i = 0; is_known(th) && i < MASKS_BEFORE; i++)
		if (((th->mask.before[i] ^ mask) & TELLING) == 0)
			return (th->mask.before[i] & SIGBIT(SIGTRAP)) != 0;
	/* A signal handler whose action is not known has added signals to the
	 * mask. */
	if (is_known(th) && (th->mask.now & TELLING & ~mask) == 0 &&
	    (th->mask.now & SIGBIT(SIGTRAP)) != 0)
		return true;
	return trapmask_seems_blocked(mask);
}

bool
trapmask_is_recent(const struct thread *th, uint64_t mask)
{
	return is_known(th) &&
	    (((th->mask.now ^ mask) & TELLING) == 0 ||
		((th->mask.before[0] ^ mask) & TELLING) == 0);
}

/* Perhaps: a signal handler whose mask is not known may run. */
static bool
may_block(const struct thread *th)
{
	return !is_known(th) || th->mask.looked == 0 || sigtrap_blocked(th);
}

/* Is another thread that may block SIGTRAP stopped at an int3, in a hit that was
 * not handled yet?  That hit may have removed dtrap's handler since th ran. */
bool
trapmask_another_is_at_one(const struct thread *th)
{
	vec_foreach(at, &th->proc->threads) {
		const struct thread *other = *at;
		if (other == th || !may_block(other))
			continue;
		if (thread_stopped(other) ?
			other->stop.queued != 0 && other->stop.kind == EV_TRAP :
			procfs_state(other->tid) == 't')
			return true;
	}
	return false;
}

void
trapmask_becomes(struct thread *th, uint64_t mask)
{
	uint64_t *before = th->mask.before;

	if (!is_known(th))
		for (size_t i = 0; i < MASKS_BEFORE; i++)
			before[i] = mask;
	else if (before[0] != th->mask.now)
		memmove(&before[1], &before[0],
		    (MASKS_BEFORE - 1) * sizeof(*before));
	if (is_known(th))
		before[0] = th->mask.now;
	th->mask.now = mask & ~NEVER_BLOCKED;
	known(th, true);
}

/* May SIGTRAP be hidden in this mask?  Only if the program blocks the similar
 * signals as well, and does not use SIGTRAP: then the bit can be guessed from
 * the others if it is lost. */
static bool
has_no_use(const struct proc *p, uint64_t mask)
{
	return proc_guarded(p) && trapmask_seems_blocked(mask) &&
	    p->trap.does != TRAP_CAUGHT && !p->trap.sent &&
	    p->space->sig_watched && p->space->masks_watched &&
	    !p->space->mask_unseen;
}

/* Is this, except for SIGTRAP, the mask of the thread in /proc, and is no
 * SIGTRAP pending?  In sigsuspend() and similar calls a thread has two masks.
 * A pending SIGTRAP would be delivered if the bit was hidden. */
static bool
is_plain(const struct thread *th, uint64_t mask)
{
	struct proc_status st;

	return procfs_status(th->tid, &st) == 0 &&
	    (st.sig_pending & SIGBIT(SIGTRAP)) == 0 &&
	    ((st.sig_blocked ^ mask) & ~SIGBIT(SIGTRAP)) == 0;
}

/* Is it a mask that the C library has set?  Only the library blocks the signals
 * that it uses internally.  Such a mask is restored soon, so SIGTRAP may be
 * hidden in it even if the program uses SIGTRAP. */
static bool
is_librarys(const struct space *sp, uint64_t mask)
{
	return (mask | NEVER_BLOCKED) == ~UINT64_C(0) && sp->masks_watched &&
	    !sp->mask_unseen;
}

static bool
can_hide(const struct thread *th, uint64_t mask)
{
	const struct proc *p = th->proc;
	uint64_t own = mask | SIGBIT(SIGTRAP);

	return proc_guarded(p) &&
	    (has_no_use(p, mask) || is_librarys(p->space, own)) &&
	    is_plain(th, mask);
}

void
sigtrap_hide_after(struct thread *th)
{
	/* Not in a process with dtrap's filter. */
	stop_want_calls(th, WANT_HIDE,
	    sigtrap_blocked(th) && !th->proc->filtered &&
		has_no_use(th->proc, th->mask.now));
}

/* Record the thread in the area: if dtrap is killed, the next tracer shows the
 * bit. */
static bool
list(struct thread *th, uint64_t mask)
{
	struct tptable *tab = th->proc->space->tab;

	if (tab == NULL) /* a new child: sigtrap_list() will be called */
		return false;
	struct trapset *ts = tptable_traps(tab);
	return trapset_add(ts, TRAP_MASK, (uint64_t)th->tid,
		   (uint32_t)(mask & ~SIGBIT(SIGTRAP))) == 0 &&
	    trapset_flush(ts) == 0;
}

static void
unlist_hidden(struct thread *th)
{
	if (th->proc->space->tab != NULL)
		trapset_drop(tptable_traps(th->proc->space->tab), TRAP_MASK,
		    (uint64_t)th->tid);
}

/* Hide SIGTRAP in the masks to which the thread's signal handlers will
 * return. */
static void
hide_frames(struct thread *th)
{
	if (!th->mask.frames_due)
		sigframes_change(th, KIN, SIGBIT(SIGTRAP), false);
	th->mask.frames_due = true;
}

void
sigtrap_hide(struct thread *th)
{
	uint64_t mask;

	if (!sigtrap_blocked(th) || !thread_stopped(th) ||
	    thread_sigmask(th, &mask) < 0 || !can_hide(th, mask) ||
	    !list(th, mask))
		return;
	hidden(th, thread_set_sigmask(th, mask & ~SIGBIT(SIGTRAP)) == 0);
	hide_frames(th);
}

/* ---- rt_sigprocmask() ---- */

bool
sigtrap_mask_plan(
    struct thread *th, int how, const uint64_t *set, struct mask_call *c)
{
	const struct proc *p = th->proc;
	const uint64_t trap = SIGBIT(SIGTRAP);

	if (!proc_guarded(p) || p->filtered ||
	    thread_sigmask(th, &c->kernel) < 0)
		return false;
	c->old = c->kernel | (trapmask_is_hidden(th) ? trap : 0);
	if (set == NULL)
		c->next = c->old;
	else if (how == SIG_BLOCK)
		c->next = c->old | (*set & ~NEVER_BLOCKED);
	else if (how == SIG_UNBLOCK)
		c->next = c->old & ~*set;
	else if (how == SIG_SETMASK)
		c->next = *set & ~NEVER_BLOCKED;
	else
		return false;
	if ((c->next & trap) == 0)
		return trapmask_is_hidden(th);
	return (has_no_use(p, c->next) || is_librarys(p->space, c->next)) &&
	    (trapmask_is_hidden(th) ||
		((c->kernel & trap) == 0 && is_plain(th, c->kernel)));
}

bool
trapmask_goes(struct thread *th, uint64_t next)
{
	return (next & SIGBIT(SIGTRAP)) == 0 || list(th, next);
}

void
trapmask_went(struct thread *th, uint64_t next, bool done)
{
	bool hides = (next & SIGBIT(SIGTRAP)) != 0;

	if (!done) {
		if (!trapmask_is_hidden(th))
			unlist_hidden(th);
		return;
	}
	hidden(th, hides);
	if (hides)
		hide_frames(th);
	else
		unlist_hidden(th);
	trapmask_becomes(th, next);
}

static void
sigtrap_show_frames(struct thread *th)
{
	unsigned n = sigframes_change(th, KIN, SIGBIT(SIGTRAP), true);

	th->mask.frames_due = false;
	LOG("sigtrap", "%d: %u frames", (int)th->tid, n);
}

void
sigtrap_reveal(struct thread *th)
{
	uint64_t mask;

	if (!trapmask_is_hidden(th) && thread_sigmask(th, &mask) == 0 &&
	    trapmask_seems_blocked(mask) && (mask & SIGBIT(SIGTRAP)) == 0 &&
	    thread_set_sigmask(th, mask | SIGBIT(SIGTRAP)) == 0)
		trapmask_becomes(th, mask | SIGBIT(SIGTRAP));
	sigtrap_show_frames(th);
}

void
sigtrap_list(struct thread *th)
{
	uint64_t mask;

	if (trapmask_is_hidden(th) && thread_sigmask(th, &mask) == 0)
		list(th, mask);
}

void
sigtrap_ended(struct thread *th)
{
	if (trapmask_is_hidden(th))
		unlist_hidden(th);
}

void
sigtrap_show(struct thread *th)
{
	uint64_t mask;

	if (!trapmask_is_hidden(th))
		return;
	hidden(th, false);
	if (thread_stopped(th) && thread_sigmask(th, &mask) == 0 &&
	    trapmask_was_blocked(th, mask))
		thread_set_sigmask(th, mask | SIGBIT(SIGTRAP));
	unlist_hidden(th);
}

void
sigtrap_end(struct thread *th)
{
	if (!thread_stopped(th))
		return;
	if (th->mask.frames_due)
		sigtrap_show_frames(th);
	sigtrap_show(th);
}

/* Is dtrap's handler no longer installed, by /proc?  False: unknown. */
bool
trapmask_ask_reset(const struct thread *th, bool *reset)
{
	const struct proc *p = th->proc;
	struct proc_status st;

	if (p->handler.state != HANDLER_IN || procfs_status(th->tid, &st) < 0)
		return false;
	*reset = (st.sig_caught & SIGBIT(SIGTRAP)) == 0;
	return true;
}

bool
sigtrap_tells(const struct thread *th, bool *reset)
{
	/* If the handler was installed again since this thread ran, it may have
	 * been this thread's int3 that removed it. */
	return th->mask.losses == th->proc->handler.losses &&
	    trapmask_ask_reset(th, reset);
}

bool
sigtrap_is_reset(const struct thread *th)
{
	bool reset;

	return trapmask_ask_reset(th, &reset) && reset;
}

void
trapmask_doubt(struct thread *th)
{
	th->mask.looked = 0;
}

void
trapmask_read(struct thread *th)
{
	known(th, thread_stopped(th) && thread_sigmask(th, &th->mask.now) == 0);
}

void
trapmask_begin(struct thread *th)
{
	uint64_t mask;

	/* At EV_TRAP an int3 whose hit was not handled has changed the mask. */
	if (!thread_stopped(th) || th->stop.asleep || trapmask_is_hidden(th) ||
	    th->stop.kind == EV_TRAP || thread_sigmask(th, &mask) < 0)
		return;
	known(th, false);
	trapmask_becomes(th, mask);
}

/* ---- at a hit ---- */

/* Is the bit still hidden?  In some masks of the kernel it cannot be: a handler
 * has returned to such a mask. */
static void
check_hidden(struct thread *th, uint64_t mask)
{
	if (!trapmask_seems_blocked(mask) || !trapmask_was_blocked(th, mask))
		hidden(th, false);
}

void
trapmask_look(struct thread *th, uint64_t mask, uint64_t now)
{
	th->mask.looked = now;
	check_hidden(th, mask);
}

void
trapmask_mend(struct thread *th, uint64_t mask, bool blocked)
{
	uint64_t was = mask | (blocked ? SIGBIT(SIGTRAP) : 0);

	if (was != th->mask.now || !is_known(th))
		trapmask_becomes(th, was);
	if (!blocked || th->proc->space->mask_unseen)
		hidden(th, false);
	if (!blocked || trapmask_is_hidden(th) || (mask & SIGBIT(SIGTRAP)) != 0)
		return;
	hidden(th, can_hide(th, mask) && list(th, mask));
	th->mask.frames_due |= trapmask_is_hidden(th);
	if (!trapmask_is_hidden(th))
		thread_set_sigmask(th, th->mask.now);
}

/* Does a pending SIGTRAP wait until the thread unblocks it? */
static bool
kernel_blocks(struct thread *th)
{
	uint64_t mask;

	return thread_sigmask(th, &mask) == 0 && (mask & SIGBIT(SIGTRAP)) != 0;
}

/*
 * Is this the signal of an int3, or of a watched address?  That of a watch on data
 * may be blocked: then no stop comes for it.
 *
 * If one that was sent is pending for a thread that blocks SIGTRAP, the kernel
 * queues none for an int3.  But it unblocks SIGTRAP: that shows that the thread has
 * executed one.
 */
static bool
is_trap(struct thread *th, const siginfo_t *si)
{
	if (si->si_signo != SIGTRAP)
		return false;
	if (si->si_code == TRAP_CODE ||
	    (th->regs.watch != 0 && si->si_code == TRAP_HWBKPT))
		return true;
	return (datawatch_is(si) || sigtrap_blocked(th)) && !kernel_blocks(th);
}

bool
thread_trap_pending(struct thread *th)
{
	siginfo_t si;

	/* The kernel delivers it first, but queues it as the last. */
	for (unsigned i = 0; thread_pending(th, false, i, &si); i++)
		if (is_trap(th, &si))
			return true;
	return false;
}

/* Has the thread executed an int3 whose stop comes after this one?  If that
 * int3 has removed dtrap's handler, it did so before. */
static bool
trap_is_due(struct thread *th)
{
	siginfo_t si;
	uint64_t mask;

	if (th->stop.kind == EV_TRAP || thread_sigmask(th, &mask) < 0 ||
	    (mask & SIGBIT(SIGTRAP)) != 0)
		return false;
	for (unsigned i = 0; thread_pending(th, false, i, &si); i++)
		if (si.si_signo == SIGTRAP)
			return true;
	return false;
}

void
trapmask_runs(struct thread *th)
{
	if (th->mask.losses != th->proc->handler.losses && !trap_is_due(th))
		th->mask.losses = th->proc->handler.losses;
}

/* ---- births and ends ---- */

void
sigtrap_inherit(const struct thread *parent, struct thread *th)
{
	th->mask.state = parent->mask.state;
	th->mask.now = parent->mask.now;
	th->mask.frames_due = parent->mask.frames_due;
}

/*
 * C libraries block all signals while they create a thread or a process.  The
 * new thread then sets the mask that its creator had before.  Neither call is
 * seen.  So, if the mask blocks everything, th->mask.now stays that of the
 * creator.
 */
void
sigtrap_born(struct thread *th)
{
	bool inherits = is_known(th);
	uint64_t mask;

	known(th, thread_sigmask(th, &mask) == 0);
	if (!is_known(th))
		return;
	check_hidden(th, mask);
	if (trapmask_is_hidden(th)) {
		list(th, mask);
		mask |= SIGBIT(SIGTRAP);
	}
	for (size_t i = 0; i < MASKS_BEFORE; i++)
		th->mask.before[i] = mask;
	if (!inherits || (mask | NEVER_BLOCKED) != ~UINT64_C(0))
		th->mask.now = mask;
}

void
sigtrap_mask_set(struct thread *th, int how, uint64_t set)
{
	uint64_t mask = th->mask.now;

	switch (how) {
	case SIG_BLOCK: mask |= set; break;
	case SIG_UNBLOCK: mask &= ~set; break;
	default: mask = set;
	}
	trapmask_becomes(th, mask);
}

/* The program's mask for a mask of a signal frame, to which a handler returns.
 * If the frame was made while SIGTRAP was hidden, its mask lacks the bit, and
 * SIGTRAP is hidden again.  Otherwise it was hidden in the handler only. */
uint64_t
trapmask_of_frame(struct thread *th, uint64_t mask)
{
	bool hides = (mask & SIGBIT(SIGTRAP)) == 0 &&
	    (trapmask_is_hidden(th) || th->mask.frames_due) &&
	    trapmask_seems_blocked(mask) && trapmask_was_blocked(th, mask);

	hidden(th, hides && (trapmask_is_hidden(th) || list(th, mask)));
	return trapmask_is_hidden(th) ? mask | SIGBIT(SIGTRAP) : mask;
}

void
sigtrap_mask_back(struct thread *th, uint64_t mask)
{
	trapmask_becomes(th, trapmask_of_frame(th, mask));
}

void
sigtrap_mask_undo(struct thread *th)
{
	uint64_t mask = th->mask.before[0];

	th->mask.before[0] = th->mask.now;
	th->mask.now = mask;
}

bool
sigtrap_apart(const struct thread *th)
{
	const struct proc *p = th->proc;

	return p->trap.does != TRAP_DEFAULT || trapmask_is_apart(th->mask.now);
}

bool
sigtrap_blocked(const struct thread *th)
{
	return th->mask.state == MASK_KNOWN &&
	    (th->mask.now & SIGBIT(SIGTRAP)) != 0;
}
