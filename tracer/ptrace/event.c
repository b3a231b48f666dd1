/*
 * Wait statuses to events.
 *
 *	kernel --event_take--> event_note --> queue --event_poll--> loop
 *	                           |
 *	                           +--> early: pid not known yet
 *
 * A status changes the state of its thread when it arrives, which may be while
 * space_stop() waits for another thread.  Structs are freed and spaces replaced
 * only when the event is handed out, so that pointers of the code in progress
 * stay valid.
 *
 * A stop for a signal is read with WNOWAIT and left with the kernel until the
 * thread is continued.  If the tracer is killed meanwhile, the kernel delivers
 * the signal: the program loses no signal, and the SIGTRAP of an int3 reaches
 * the handler in the target (inject/trap/).  If wait4() had taken the stop, the
 * signal would be lost, and the thread would go on in the middle of the
 * instruction under the int3 (wait_task_stopped() in kernel/exit.c clears
 * exit_code, which ptrace_stop() returns).
 *
 * While a stop is left there (th->stop.untaken), a wait for any thread may
 * return it again, so threads are asked one by one.  This is also done every
 * few events, in a round, because the kernel always returns the first thread of
 * its list.
 *
 * The invariant: a thread is TH_STOPPED from the moment its status is taken in
 * until it is resumed; and a stop either has an event in the queue, has been
 * handed out, or is TH_WAITING.
 */
#include "tracer/ptrace/event.h"

#include <errno.h>
#include <linux/kcmp.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dlang/base/fault.h"
#include "dlang/base/log.h"
#include "tracer/ptrace/super.h"

/* There is a round at least every ROUND_EVERY events, but not so often that
 * more than one wait in ROUND_EVERY is for it. */
#define ROUND_EVERY 8

/* CLONE_CLEAR_SIGHAND of include/uapi/linux/sched.h, for clone3(). */
#define CLEAR_SIGHAND UINT64_C(0x100000000)

/* Set by signal handlers; see wait.c. */
static volatile sig_atomic_t interrupted;
static const volatile int never;

static_assert(sizeof(sig_atomic_t) == sizeof(int), "wait_call() reads an int");

void
event_interrupt(void *ucontext)
{
	interrupted = 1;
	wait_skip(ucontext);
}

/* Children */

int
event_same_memory(pid_t a, pid_t b)
{
	long r = syscall(SYS_kcmp, a, b, KCMP_VM, 0, 0);

	return r < 0 ? -1 : r == 0;
}

static bool
is_thread_of(pid_t tid, pid_t pid)
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)pid, (int)tid);
	return access(path, F_OK) == 0;
}

/* Add the child of an event-stop of the clone family: a new thread, a process
 * in the same space, or a process with a copy of it. */
static struct thread *
child_add(struct thread *parent, enum event_kind kind, pid_t tid)
{
	struct proc *p = parent->proc;
	struct super *su = p->super;
	bool thread = kind == EV_CLONE && is_thread_of(tid, p->pid);
	int shared = thread ? 1 : event_same_memory(parent->tid, tid);

	if (shared < 0) { /* not permitted, or the child is gone already */
		struct uregs *regs = thread_regs(parent);
		uint64_t flags =
		    regs != NULL ? regs_clone_flags(regs, &p->space->mem) : 0;
		thread = (flags & CLONE_THREAD) != 0;
		shared = (flags & CLONE_VM) != 0;
	}
	if (thread) {
		struct thread *th = thread_add(p, tid, TH_NEW);
		sigtrap_inherit(parent, th);
		return th;
	}

	struct proc *child = proc_add(su, tid, shared ? p->space : NULL);
	child->parent = p->pid;
	child->maker_changes = p->space->changes;
	memcpy(child->comm, p->comm, sizeof(child->comm));
	child->filtered = p->filtered;
	parts_inherit(&child->parts, &p->parts);
	child->vfork_child = kind == EV_VFORK && shared;
	trapaction_inherit(p, child);
	traphandler_inherit(p, child);
	struct uregs *regs = thread_regs(parent);
	if (regs != NULL &&
	    (regs_clone_flags(regs, &p->space->mem) & CLEAR_SIGHAND) != 0)
		sigtrap_cleared(child);
	struct thread *th = thread_add(child, tid, TH_NEW);
	parts_inherit(&th->parts, &parent->parts);
	stop_want_calls(
	    th, WANT_RETURN, (parent->stop.wants & WANT_RETURN) != 0);
	sigtrap_inherit(parent, th);
	return th;
}

static bool
pid_remove(struct pids *pids, pid_t pid)
{
	for (size_t i = 0; i < pids->list.len; i++)
		if (pids->list.at[i] == pid) {
			pids->list.at[i] = vec_pop(&pids->list);
			return true;
		}
	return false;
}

/* Statuses of unknown children are kept, up to a limit that is larger than the
 * number of plain children of a tracer. */
#define EARLY_MAX 256

static void
early_drop(struct super *su, size_t i)
{
	struct early *e = &su->early.at[i];

	memmove(e, e + 1, (su->early.len - i - 1) * sizeof(*e));
	su->early.len--;
}

static void
early_add(struct super *su, pid_t pid, int status)
{
	struct early e = { .pid = pid, .status = status };
	struct proc_status st;
	size_t i = 0;

	if (WIFSTOPPED(status) && procfs_status(pid, &st) == 0)
		e.parent = st.ppid;
	while (i < su->early.len && WIFSTOPPED(su->early.at[i].status))
		i++;
	if (su->early.len >= EARLY_MAX && i < su->early.len)
		early_drop(su, i);
	*vec_push(&su->early) = e;
}

/* The first status that is kept for pid; with `ended' the one of its end. */
static bool
early_remove(struct super *su, pid_t pid, bool ended, int *status)
{
	for (size_t i = 0; i < su->early.len; i++) {
		struct early *e = &su->early.at[i];
		if (e->pid != pid || (ended && WIFSTOPPED(e->status)))
			continue;
		*status = e->status;
		early_drop(su, i);
		return true;
	}
	return false;
}

int
event_plain_child(struct super *su, pid_t pid, int *status)
{
	return early_remove(su, pid, true, status);
}

int
event_await_plain(struct super *su, pid_t pid)
{
	int status;
	long r;

	if (event_plain_child(su, pid, &status))
		return status;
	do
		r = wait_call(pid, &status, 0, &never);
	while (r == -EINTR);
	return r == pid ? status : -1;
}

/* Statuses to events */

bool
event_makes_child(int event)
{
	return event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK ||
	    event == PTRACE_EVENT_CLONE;
}

/* The statuses of a child that came before it was named. */
static void
note_early(struct thread *child)
{
	struct super *su = child->proc->super;
	int status;

	while (!thread_gone(child) &&
	    early_remove(su, child->tid, false, &status)) {
		/* The status may be the end of an earlier process with the same
		 * number. */
		if (!WIFSTOPPED(status) && procfs_state(child->tid) != '\0')
			continue;
		event_note(su, child->tid, status);
	}
}

/* Has the child died before its parent's event named it? */
static bool
is_orphan(struct super *su, pid_t tid)
{
	struct proc_status st;

	if (!pid_remove(&su->orphans, tid))
		return false;
	/* Unless the number belongs to a new process. */
	return procfs_status(tid, &st) < 0 || st.tracer != getpid();
}

static void
note_child(struct thread *th, enum event_kind kind)
{
	struct super *su = th->proc->super;
	unsigned long msg = 0;

	tid_eventmsg(th->tid, &msg);
	struct event ev = { .kind = kind, .thread = th };
	if (msg != 0 && super_thread(su, (pid_t)msg) == NULL &&
	    !is_orphan(su, (pid_t)msg))
		ev.child = child_add(th, kind, (pid_t)msg);
	event_push(su, &ev);
	if (ev.child != NULL)
		note_early(ev.child);
	fault_kill("fork-noted");
}

/*
 * A process that is killed just after a fork does not report its child.  The
 * child is stopped, with dtrap's int3s in its memory.  It is reported with the
 * end of the last thread that may have made it.
 */
static void
adopt_orphans(struct thread *th)
{
	struct proc *p = th->proc;
	struct super *su = p->super;
	size_t i = 0;

	vec_foreach(other, &p->threads)
		if (!thread_gone(*other))
			return;
	while (i < su->early.len) {
		const struct early *e = &su->early.at[i++];
		if (!WIFSTOPPED(e->status) || e->parent != p->pid)
			continue;
		struct event ev = { .kind = EV_FORK, .thread = th };
		ev.child = child_add(th, EV_FORK, e->pid);
		event_push(su, &ev);
		note_early(ev.child);
		i = 0;
	}
}

static void
note_gone(struct thread *th, int status)
{
	stop_gone(th);
	sigtrap_ended(th);
	adopt_orphans(th);
	regs_forget(th);
	event_push(th->proc->super,
	    &(struct event){ .kind = EV_GONE, .thread = th, .status = status });
}

void
event_lost(struct thread *th)
{
	note_gone(th, 0);
}

/* A stop that is not reported: continue the thread, unless its space is
 * stopped. */
static void
note_swallowed(struct thread *th)
{
	stop_answered(th);
	thread_resume(th); /* remembers, if the space is stopped */
}

static void
note_event_stop(struct thread *th, int sig, enum thread_state before)
{
	bool is_new = before == TH_NEW, listened = before == TH_LISTENING;
	bool reported = is_new || th->stop.asked == ASK_EVENT;
	enum event_kind kind = EV_STOP;

	stop_is(th, sig == SIGTRAP ? EV_STOP : EV_GROUP_STOP);
	if (is_new)
		sigtrap_born(th);
	/* The group-stop of a thread that was listening is the old one; dtrap's
	 * PTRACE_INTERRUPT has made it again. */
	if (sig != SIGTRAP && !is_new && !listened) {
		kind = EV_GROUP_STOP;
		reported = true;
	}
	restart_event_stop(th, listened && th->stop.asked == ASK_NOTHING);
	if (!reported) {
		note_swallowed(th);
		return;
	}
	stop_answered(th);
	event_push(th->proc->super,
	    &(struct event){
		.kind = kind, .thread = th, .sig = sig, .first = is_new });
}

/* The leader stops in its new program; there are no other threads. */
static void
note_exec(struct thread *th)
{
	struct proc *p = th->proc;
	unsigned long msg = 0;

	tid_eventmsg(th->tid, &msg);
	/* The call belongs to the thread that made it, and has not ended. */
	struct thread *caller = super_thread(p->super, (pid_t)msg);
	if (caller == NULL)
		call_end(th);
	else if (caller != th) {
		call_inherit(caller, th);
		stop_want_calls(
		    th, WANT_EXIT, (caller->stop.wants & WANT_EXIT) != 0);
		sigtrap_inherit(caller, th);
	}
	sigtrap_show(th);
	trapmask_read(th);
	for (size_t i = 0; i < p->threads.len; i++) {
		struct thread *other = p->threads.at[i];
		if (other != th && !thread_gone(other))
			note_gone(other, 0);
	}
	event_push(p->super, &(struct event){ .kind = EV_EXEC, .thread = th });
	stop_executed(th);
}

static void
note_syscall_stop(struct thread *th)
{
	enum thread_call call = th->stop.call;
	bool enter =
	    call == CALL_UNKNOWN ? thread_at_entry(th) : call == CALL_OUTSIDE;

	stop_is(th, enter ? EV_SYSCALL_ENTER : EV_SYSCALL_EXIT);
	if (!enter)
		restart_left(th); /* or set anew */
	/* dtrap interrupted the call: it has not ended, so no event is
	 * reported. */
	if (!enter && th->stop.broken_off)
		thread_restart_call(th);
	event_push(th->proc->super,
	    &(struct event){ .kind = th->stop.kind, .thread = th });
}

static void
note_signal(struct thread *th, int sig)
{
	stop_is(th, sig == SIGTRAP ? EV_TRAP : EV_SIGNAL);
	stop_signal(th, sig == SIGTRAP ? 0 : sig);
	signal_in_turn(th, sig);
	event_push(th->proc->super,
	    &(struct event){ .kind = th->stop.kind, .thread = th, .sig = sig });
}

static void
note_exit(struct thread *th)
{
	unsigned long status = 0;

	tid_eventmsg(th->tid, &status);
	event_push(th->proc->super,
	    &(struct event){
		.kind = EV_EXIT, .thread = th, .status = (int)status });
}

static void
note_stop(struct thread *th, int sig, int event)
{
	static const enum event_kind kinds[] = {
		[PTRACE_EVENT_FORK] = EV_FORK,
		[PTRACE_EVENT_VFORK] = EV_VFORK,
		[PTRACE_EVENT_CLONE] = EV_CLONE,
		[PTRACE_EVENT_EXEC] = EV_EXEC,
		[PTRACE_EVENT_VFORK_DONE] = EV_VFORK_DONE,
		[PTRACE_EVENT_EXIT] = EV_EXIT,
		[PTRACE_EVENT_SECCOMP] = EV_SECCOMP,
	};
	enum thread_state before = stop_begin(th);

	regs_begin(th);
	if (event == PTRACE_EVENT_STOP) {
		note_event_stop(th, sig, before);
		return;
	}
	if (event == 0) {
		if (sig == (SIGTRAP | 0x80))
			note_syscall_stop(th);
		else
			note_signal(th, sig);
		return;
	}
	stop_is(th, event < (int)ARRAY_SIZE(kinds) ? kinds[event] : EV_NONE);
	switch (th->stop.kind) {
	case EV_FORK:
	case EV_VFORK:
	case EV_CLONE: note_child(th, th->stop.kind); break;
	case EV_EXEC: note_exec(th); break;
	case EV_EXIT: note_exit(th); break;
	case EV_NONE: /* an event of a newer kernel */
		restart_event_stop(th, false);
		note_swallowed(th);
		break;
	default:
		event_push(th->proc->super,
		    &(struct event){ .kind = th->stop.kind, .thread = th });
	}
}

bool
event_reclaim(struct super *su, pid_t tid)
{
	return pid_remove(&su->leaving, tid);
}

/* A thread that was detached while it slept has stopped or ended. */
static bool
note_leaving(struct super *su, pid_t tid, int status)
{
	unsigned long child = 0;
	int early;

	if (!event_reclaim(su, tid))
		return false;
	if (!WIFSTOPPED(status))
		return true;
	/* It was making a child, which is traced as well. */
	if (event_makes_child(status >> 16) && tid_eventmsg(tid, &child) == 0) {
		*vec_push(&su->leaving.list) = (pid_t)child;
		if (early_remove(su, (pid_t)child, false, &early))
			note_leaving(su, (pid_t)child, early);
	}
	int sig = status >> 16 == 0 ? WSTOPSIG(status) : 0;
	tid_release(tid, (sig & 0x80) == 0 ? sig : 0);
	return true;
}

/* An exec by a thread that was detached while it slept: it has the number of
 * its process now. */
static bool
note_leaving_exec(struct super *su, pid_t pid)
{
	unsigned long old = 0;

	if (tid_eventmsg(pid, &old) < 0 || !event_reclaim(su, (pid_t)old))
		return false;
	tid_release(pid, 0);
	return true;
}

static void
note_unknown(struct super *su, pid_t pid, int status)
{
	int event = WIFSTOPPED(status) ? status >> 16 : 0, early;

	if (note_leaving(su, pid, status))
		return;
	if (event == PTRACE_EVENT_EXEC && note_leaving_exec(su, pid))
		return;
	if (event != PTRACE_EVENT_EXIT) {
		early_add(su, pid, status);
		return;
	}
	/* The child was killed before it was reported, probably with its parent
	 * (an exec by another thread), which will not report it any more. */
	while (early_remove(su, pid, false, &early))
		;
	if (su->orphans.list.len >= EARLY_MAX)
		su->orphans.list.len = 0;
	*vec_push(&su->orphans.list) = pid;
	tid_release(pid, 0);
}

void
event_note(struct super *su, pid_t pid, int status)
{
	struct thread *th = super_thread(su, pid);

	fault_kill("wait-status");
	LOG("event", "%d: status %x%s", (int)pid, (unsigned)status,
	    th == NULL ? " (not known)" : "");
	if (th == NULL && WIFSTOPPED(status) &&
	    status >> 16 == PTRACE_EVENT_EXEC && super_proc(su, pid) != NULL) {
		/* The leader had ended before the attach. */
		th = thread_add(super_proc(su, pid), pid, TH_STOPPED);
	}
	if (th == NULL) {
		note_unknown(su, pid, status);
		return;
	}
	if (WIFSTOPPED(status))
		note_stop(th, WSTOPSIG(status), status >> 16);
	else
		note_gone(th, status);
}

static bool
is_signal_stop(int status)
{
	return WIFSTOPPED(status) && status >> 16 == 0 &&
	    WSTOPSIG(status) < 0x80;
}

/*
 * A status of pid was seen with WNOWAIT: take it from the kernel, unless it
 * must be left there.  False if it is gone (the thread was killed); another one
 * will come.
 */
static bool
accept(struct super *su, pid_t pid, int *status)
{
	struct thread *th = super_thread(su, pid);

	if (th != NULL)
		stop_take(th);
	if (th != NULL && is_signal_stop(*status)) {
		stop_leave_untaken(th);
		return true;
	}
	if (wait_call(pid, status, __WALL | WNOHANG, &never) == pid)
		return true;
	/* A child that is not traced has stopped (the guardian, a shell of
	 * system()).  The kernel would report it again and again. */
	return th == NULL &&
	    wait_call(pid, status, __WALL | WNOHANG | WUNTRACED, &never) ==
	    pid &&
	    !WIFSTOPPED(*status);
}

/* Take in the status of one thread, if it has one. */
static bool
take_from(struct super *su, pid_t tid)
{
	int status;

	if (wait_peek(tid, &status, __WALL | WNOHANG, &never) != tid ||
	    !accept(su, tid, &status))
		return false;
	event_note(su, tid, status);
	return true;
}

void
event_take_of(struct thread *th)
{
	take_from(th->proc->super, th->tid);
}

/* Take in the status of any thread.  Only while no stop is left with the
 * kernel. */
static bool
take_any(struct super *su)
{
	int status;

	if (su->untaken > 0)
		return false;
	long pid = wait_peek(-1, &status, __WALL | WNOHANG, &never);
	if (pid <= 0)
		return false;
	if (accept(su, (pid_t)pid, &status))
		event_note(su, (pid_t)pid, status);
	return true;
}

static bool
may_report(const struct thread *th)
{
	return !th->stop.untaken && (!thread_stopped(th) || thread_ends(th));
}

/* A round asks each thread once.  It keeps thread ids, because a status may add
 * and remove threads. */
static void
round_begin(struct super *su)
{
	vec_clear(&su->round);
	su->since_round = 0;
	hash_foreach(e, &su->threads) {
		struct thread *th = e->value;
		if (may_report(th))
			*vec_push(&su->round) = th->tid;
	}
	vec_foreach(tid, &su->leaving.list)
		*vec_push(&su->round) = *tid;
}

/* Continue the round up to the next thread that has a status. */
static bool
round_take(struct super *su)
{
	while (su->round.len > 0) {
		pid_t tid = vec_pop(&su->round);
		struct thread *th = super_thread(su, tid);

		if ((th == NULL || may_report(th)) && take_from(su, tid))
			return true;
	}
	return false;
}

bool
event_take(struct super *su)
{
	bool any = false;

	while (take_any(su))
		any = true;
	if (su->untaken == 0)
		return any;
	round_begin(su);
	while (round_take(su))
		any = true;
	return any;
}

/*
 * The first thread of a process that has ended has no status until all others have;
 * if one of them executes a program, the kernel ends it, and the others too, which
 * then stop a last time and wait for us.  So each time that a timer interrupts the wait
 * there is a look at the thread.
 */
int
event_wait_thread(struct thread *th, int *status)
{
	const volatile int *flag = (const volatile int *)&interrupted;
	bool was = false;
	long pid;

	stop_take(th);
	do {
		pid = wait_peek(th->tid, status, __WALL, flag);
		if (pid == th->tid && !accept(th->proc->super, th->tid, status))
			pid = -EINTR;
		if (!interrupted)
			continue;
		was = true;
		interrupted = 0;
		if (pid == -EINTR && procfs_state(th->tid) == 'Z' &&
		    wait_peek(th->tid, status, __WALL | WNOHANG, &never) !=
			th->tid)
			pid = -ESRCH;
	} while (pid == -EINTR);
	/* The loop has not heard of it. */
	if (was)
		interrupted = 1;
	return pid > 0 ? 0 : -ESRCH;
}

void
event_reap(pid_t pid)
{
	int status;

	/* It may stop once more before it ends. */
	while (wait_call(pid, &status, __WALL, &never) == pid &&
	    WIFSTOPPED(status))
		tid_release(pid, 0);
}

/* Handing out */

static void
free_dead(struct super *su)
{
	if (su->dead_thread != NULL)
		thread_free(su->dead_thread);
	su->dead_thread = NULL;
	if (su->dead_proc != NULL)
		proc_free(su->dead_proc);
	su->dead_proc = NULL;
}

/* Changes that wait until the event is handed out: see the head of the file. */
static void
hand_out(struct super *su, const struct event *ev)
{
	struct proc *p = ev->thread->proc;

	su->since_round++;
	if (ev->kind == EV_EXEC) {
		proc_new_space(p);
		proc_refresh(p);
		sigtrap_flushed(p);
	} else if (ev->kind == EV_GONE) {
		su->dead_thread = ev->thread;
		if (!thread_unlink(ev->thread))
			return;
		p->exit_status = ev->status;
		proc_unlink(p);
		su->dead_proc = p;
	}
}

/* Take stops that were left with the kernel, which would report them for
 * ever. */
static void
take_untaken(struct super *su)
{
	hash_foreach(e, &su->threads)
		thread_take_stop(e->value);
}

/* Block until something has been taken in. */
static int
await(struct super *su)
{
	int status;

	if (su->untaken > 0) {
		if (event_take(su))
			return 0;
		take_untaken(su);
	}
	long pid =
	    wait_peek(-1, &status, __WALL, (const volatile int *)&interrupted);

	su->waits++;
	if (pid > 0) {
		if (accept(su, (pid_t)pid, &status))
			event_note(su, (pid_t)pid, status);
		return 0;
	}
	if (pid == -EINTR)
		interrupted = 0;
	return (int)pid;
}

/* Is it time for a round, for threads that the kernel reports last? */
static bool
take_round(struct super *su)
{
	size_t n = su->threads.count;

	if (n > 1 && su->since_round >= MAX((size_t)ROUND_EVERY, n / 8))
		round_begin(su);
	return round_take(su);
}

unsigned
event_waits(const struct super *su)
{
	return su->waits;
}

int
event_poll(struct super *su, struct event *ev, bool block)
{
	free_dead(su);
	while (!event_pop(su, ev)) {
		*ev = (struct event){ .kind = EV_NONE };
		if (su->threads.count == 0)
			return -ECHILD;
		if (take_round(su))
			continue;
		if (block) {
			int r = await(su);
			if (r < 0)
				return r;
		} else if (!event_take(su)) {
			return 0;
		}
	}
	hand_out(su, ev);
	return 1;
}
