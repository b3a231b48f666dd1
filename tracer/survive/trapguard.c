/*
 * See trapguard.h.  inject/trapset.c lists the places in the text.
 */
#include "tracer/survive/trapguard.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>

#include "dlang/base/clock.h"
#include "dlang/base/log.h"
#include "inject/tracepoint.h"
#include "inject/trapset.h"
#include "tracer/survive/guardian.h"
#include "tracer/ptrace/remote.h"
#include "tracer/ptrace/super.h"
#include "tracer/ptrace/target_ptrace.h"
#include "tracer/ptrace/trapqueue.h"

/* How often dtrap checks that its action is installed: normally, and in a
 * process that has changed it by a call that was not seen. */
#define CHECK_MS        1000
#define CHECK_UNSEEN_MS 20

/* When a process was last checked, ms. */
static const struct part checked_part = { .size = sizeof(uint64_t) };

static struct trapset *
traps_of(const struct space *sp)
{
	return sp->tab != NULL ? tptable_traps(sp->tab) : NULL;
}

/* The area stores the action of the first process in the space.  That of
 * another one, usually a vfork child, is only in its struct. */
static bool
has_area(const struct proc *p)
{
	return p->space->procs.at[0] == p;
}

static void
own_action(const struct proc *p, uint64_t words[ACTION_WORDS])
{
	memset(words, 0, ACTION_WORDS * sizeof(*words));
	if (p->trap.saved)
		memcpy(words, p->trap.action, sizeof(p->trap.action));
	else if (p->trap.does == TRAP_IGNORED)
		words[ACTION_HANDLER] = (uint64_t)(uintptr_t)SIG_IGN;
}

/* Write an action for the kernel (dtrap's, or with `own' the program's) to the
 * target and to words.  Returns its address, or 0.  From then on dtrap's
 * handler performs the program's recorded action. */
static uint64_t
write_action(struct proc *p, bool own, uint64_t words[ACTION_WORDS])
{
	struct target *t = &p->space->target;

	own_action(p, words);
	traphandler_outdated(p, false);
	uint64_t addr = trapset_action(traps_of(p->space), words, own);
	if (addr != 0 &&
	    t->ops->read(t, addr, words, ACTION_WORDS * sizeof(*words)) != 0)
		return 0;
	return addr;
}

/* Install dtrap's action or the program's own by a call in th.  0 or -errno;
 * the previous action is stored in old, if that is not NULL. */
static int
set_action(struct thread *th, bool own, uint64_t *old)
{
	struct proc *p = th->proc;
	const struct proc *first = p->space->procs.at[0];
	uint64_t words[ACTION_WORDS], addr = 0;

	if (has_area(p)) {
		addr = write_action(p, own, words);
		if (addr == 0)
			return -ENOMEM;
	} else if (own) {
		own_action(p, words);
	} else { /* the process was created before the area, and has no restorer
		  * yet */
		memcpy(words, first->handler.action, sizeof(words));
	}
	traphandler_sets(p);
	int r = sigtrap_call(th, addr, addr == 0 ? words : NULL, old);
	if (r == 0)
		traphandler_set(p, words);
	LOG("trap", "%d: %s action: %d", (int)th->tid, own ? "its own" : "our",
	    r);
	return r;
}

/* Setting SIG_IGN discards pending signals, so these are queued again.  If the
 * tracer is killed in between, they are lost. */
static int
set_own_action(struct thread *th, uint64_t *old)
{
	struct trapqueue q = { 0 };

	if (th->proc->trap.does == TRAP_IGNORED)
		trapqueue_read(th->proc, &q);
	int r = set_action(th, true, old);
	if (r == 0)
		trapqueue_send(th->proc, &q);
	vec_fini(&q.list);
	return r;
}

/* Read the program's present action for SIGTRAP, which may have changed since
 * the attach.  Not if dtrap has traced the program since its exec.  0 or
 * -errno. */
static int
learn(struct proc *p)
{
	struct thread *th = NULL;
	int r = -EBUSY;

	if (p->trap.saved && p->threads.len == 1 &&
	    p->threads.at[0]->stop.kind == EV_EXEC)
		return 0;
	while (r != 0 && (th = remote_next_in(p, th)) != NULL)
		r = sigtrap_save(th);
	return r;
}

/* Has the process run its last instruction in this memory?  It is ending
 * (EV_EXIT), or it has executed a program whose event is still queued.  Then
 * dtrap can make no call in it, and it will execute no int3 and enter no handler.
 * This happens mostly with vfork children, and with children that were forked
 * during the attach. */
static bool
has_left(const struct proc *p)
{
	vec_foreach(at, &p->threads) {
		const struct thread *th = *at;
		if (!thread_gone(th) && !thread_ends(th) && !th->stop.executed)
			return false;
	}
	return true;
}

static int
begin_proc(struct proc *p)
{
	struct thread *th = NULL;

	if (proc_guarded(p) || (!has_area(p) && has_left(p)))
		return 0;
	int r = learn(p);
	if (r != 0)
		return r;
	r = -EBUSY;
	while (r != 0 && (th = remote_next_in(p, th)) != NULL)
		r = set_action(th, false, NULL);
	if (r == 0)
		traphandler_is(p, HANDLER_IN);
	vec_foreach(each, &p->threads)
		sigtrap_hide(*each);
	return r;
}

/* The area is gone, and so is the handler in it. */
static void
lose(struct space *sp)
{
	trapset_lost(traps_of(sp));
	vec_foreach(p, &sp->procs)
		traphandler_is(*p, HANDLER_ABSENT);
}

int
trapguard_begin(struct space *sp, uint64_t near, bool bare, const char **why)
{
	struct trapset *ts = traps_of(sp);
	int r = 0;

	*why = "the list of bytes to restore has disappeared from its memory";
	if (!trapset_intact(ts)) {
		if (!bare)
			return -EFAULT;
		lose(sp);
	}
	*why = "this kernel forbids writing to read-only memory through "
	       "/proc/PID/mem (proc_mem.force_override)";
	r = target_may_force();
	if (r != 0)
		return r;
	*why = "the guardian process, which would restore its code, cannot be "
	       "started";
	r = guardian_add(sp, 0); /* the guardian works on it while the rest is
				  * done */
	if (r != 0)
		return r;
	*why = "memory for the list of bytes to restore cannot be mapped";
	r = trapset_map(ts, near);
	if (r == -EPERM)
		*why = "memory for the list of bytes to restore cannot be "
		       "mapped: seccomp or a security module may forbid it";
	if (r != 0)
		return r;
	*why = "the guardian process, which would restore its code, cannot "
	       "open its memory";
	r = guardian_has(sp, trapset_area(ts));
	if (r != 0)
		return r;
	*why = "a SIGTRAP handler cannot be installed";
	for (size_t i = 0; r == 0 && i < sp->procs.len; i++)
		r = begin_proc(sp->procs.at[i]);
	return r;
}

bool
trapguard_may_pass(int error)
{
	switch (error) {
	case -EBUSY:     /* no thread can make a call: all remaining threads are
			  * ending or in an uninterruptible sleep */
	case -ESRCH:     /* the one that was asked has ended */
	case -EFAULT:    /* the program has unmapped the area */
	case -EPIPE:     /* the guardian has ended */
	case -ETIMEDOUT: /* it has no processor */
	case -EAGAIN: /* no more processes */ return true;
	default: return false;
	}
}

bool
trapguard_inherit(struct proc *p, uint64_t start, uint64_t size)
{
	struct target *t = &p->space->target;
	struct trapqueue q = { 0 };
	uint64_t own[ACTION_WORDS] = { 0 },
		 addr = start + offsetof(struct trap_area, action);
	const uint64_t args[6] = { SIGTRAP, addr, 0, sizeof(*own) };
	struct trap_area head;
	int64_t result;

	if (p->trap.does != TRAP_CAUGHT || has_left(p))
		return true;
	if (!p->trap.saved || t->ops->read(t, start, &head, sizeof(head)) != 0)
		return false;
	if (p->trap.action[ACTION_HANDLER] - start >= size)
		return true;
	own[ACTION_HANDLER] = head.old_handler;
	own[ACTION_FLAGS] = head.old_flags;
	own[ACTION_RESTORER] = head.old_restorer;
	own[ACTION_MASK] = head.old_mask;
	if (own[ACTION_HANDLER] == (uint64_t)(uintptr_t)SIG_IGN)
		trapqueue_read(p, &q);
	bool done = t->ops->write(t, addr, own, sizeof(own)) == 0 &&
	    remote_syscall_in(p, SYS_rt_sigaction, args, &result) == 0 &&
	    result == 0;
	if (done)
		trapqueue_send(p, &q);
	vec_fini(&q.list);
	if (done)
		sigtrap_becomes(p, own);
	return done;
}

/* Has an int3 while SIGTRAP was blocked reset the action?  The kernel then
 * changes only the handler. */
static bool
was_reset(
    const uint64_t action[ACTION_WORDS], const uint64_t ours[ACTION_WORDS])
{
	return action[ACTION_HANDLER] == (uint64_t)(uintptr_t)SIG_DFL &&
	    memcmp(&action[ACTION_FLAGS], &ours[ACTION_FLAGS],
		(ACTION_WORDS - 1) * sizeof(*ours)) == 0;
}

void
trapguard_executed(struct thread *th)
{
	uint64_t ignored[ACTION_WORDS] = { (uint64_t)(uintptr_t)SIG_IGN };
	struct proc *p = th->proc;
	struct trapqueue q = { 0 };

	if (!trapaction_take_ignore(p))
		return;
	trapqueue_read(p, &q);
	int r = sigtrap_call(th, 0, ignored, NULL);
	if (r == 0)
		trapqueue_send(p, &q);
	vec_fini(&q.list);
	if (r == 0)
		sigtrap_becomes(p, ignored);
	else
		LOG("trap", "%d: SIGTRAP is not ignored any more: %s",
		    (int)p->pid, strerror(-r));
}

bool
trapguard_is_handler(const struct proc *p, uint64_t addr)
{
	return addr - trapset_area(traps_of(p->space)) < trap_code_size;
}

/* The same.  1: another action was installed, and is now recorded as the
 * program's. */
static int
swap_action(struct thread *th, bool own)
{
	struct proc *p = th->proc;
	uint64_t old[ACTION_WORDS] = { 0 }, ours[ACTION_WORDS];

	memcpy(ours, p->handler.action, sizeof(ours));
	int r = own ? set_own_action(th, old) : set_action(th, false, old);
	if (r < 0 || trapguard_is_handler(p, old[ACTION_HANDLER]) ||
	    was_reset(old, ours))
		return r;
	LOG("trap", "%d: its own action was in the place of ours", (int)p->pid);
	sigtrap_becomes(p, old);
	return 1;
}

void
trapguard_end(struct proc *p)
{
	struct thread *th = NULL;

	while (proc_guarded(p) && (th = remote_next_in(p, th)) != NULL) {
		int r = swap_action(th, true);
		if (r == 1) /* set by a call that was not seen: it stays */
			r = set_own_action(th, NULL);
		if (r >= 0)
			traphandler_is(p, HANDLER_ABSENT);
	}
}

bool
trapguard_check(struct thread *th)
{
	struct proc *p = th->proc;
	uint64_t now = clock_coarse_ms(), *checked;

	if (!proc_guarded(p))
		return true;
	checked = part_of(&p->parts, &checked_part);
	if (now - *checked <
	    (p->space->sig_watched ? CHECK_MS : CHECK_UNSEEN_MS))
		return true;
	*checked = now;
	if (swap_action(th, false) != 1)
		return true;
	if (set_action(th, false, NULL) != 0)
		traphandler_is(p, HANDLER_ABSENT);
	p->super->unguarded++;
	return false;
}

/* Is a SIGTRAP pending for a thread that blocks it?  If the thread does not
 * block it, it is being delivered, and may be that of an int3. */
static bool
is_held_back(const struct proc *p)
{
	struct proc_status st;

	vec_foreach(th, &p->threads)
		if (procfs_status((*th)->tid, &st) == 0 &&
		    (st.sig_pending & st.sig_blocked & SIGBIT(SIGTRAP)) != 0)
			return true;
	return false;
}

/* The program ignores SIGTRAP from now on, which discards pending SIGTRAPs.
 * The kernel would do that if it got this action, but it would also discard
 * those of the int3s of other threads. */
static void
throw_away(struct proc *p)
{
	space_stop(p->space);
	trapqueue_discard(p);
	space_resume(p->space);
}

void
trapguard_becomes(struct thread *th, const uint64_t action[ACTION_WORDS])
{
	struct proc *p = th->proc;
	uint64_t words[ACTION_WORDS];

	sigtrap_becomes(p, action);
	/* A SIGTRAP that was pending has been merged with that of the marker,
	 * and would become pending again.  It is discarded, too. */
	if (p->trap.does == TRAP_IGNORED && th->stop.sig == SIGTRAP)
		stop_signal(th, 0);
	if (p->trap.does == TRAP_IGNORED && is_held_back(p))
		throw_away(p);
	/* Flags and mask of dtrap's action must be those of the program's
	 * handler.  If the program has no handler, they do not matter. */
	if (has_area(p) && write_action(p, false, words) != 0 &&
	    p->trap.does == TRAP_CAUGHT &&
	    memcmp(words, p->handler.action, sizeof(words)) != 0)
		set_action(th, false, NULL);
}

void
trapguard_delivers(struct thread *th)
{
	struct proc *p = th->proc;
	uint64_t action[ACTION_WORDS];

	if (p->handler.outdated)
		write_action(p, false, action);
	/* dtrap's handler would perform the action of another process. */
	if (proc_guarded(p) && !has_area(p) && set_own_action(th, NULL) >= 0)
		traphandler_is(p, HANDLER_ABSENT);
	if (p->trap.does != TRAP_CAUGHT || !p->trap.saved ||
	    (p->trap.action[ACTION_FLAGS] & SA_RESETHAND) == 0)
		return;
	memcpy(action, p->trap.action, sizeof(action));
	action[ACTION_HANDLER] = (uint64_t)(uintptr_t)SIG_DFL;
	sigtrap_becomes(p, action);
	traphandler_outdated(p, proc_guarded(p));
}

/* May an int3 of another thread make the kernel reset the action, now or
 * soon? */
static bool
others_reset(const struct thread *th)
{
	vec_foreach(other, &th->proc->threads)
		if (*other != th && sigtrap_blocked(*other))
			return true;
	return sigtrap_is_reset(th);
}

void
trapguard_pass(struct thread *th)
{
	struct proc *p = th->proc;
	struct thread *by = NULL;

	if (th->stop.sig != SIGTRAP || th->stop.held || th->stop.queued > 0 ||
	    !proc_guarded(p) ||
	    (p->trap.does != TRAP_CAUGHT && !p->handler.outdated) ||
	    !others_reset(th))
		return;
	space_stop(p->space);
	while (sigtrap_is_reset(th) && (by = remote_next_in(p, by)) != NULL)
		trapguard_lost(by);
	thread_deliver(th);
	space_resume(p->space);
}

void
trapguard_lost(struct thread *th)
{
	struct proc *p = th->proc;

	if (p->vfork_child || set_action(th, false, NULL) < 0)
		traphandler_is(p, HANDLER_LOST);
}
