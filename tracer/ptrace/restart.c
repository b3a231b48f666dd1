/*
 * Calls that a stop of ours would end.
 *
 * Most calls that wait are made again by the kernel when a thread is stopped
 * and goes on.  Some are not: they return EINTR after any stop, and also after
 * a signal that the program ignores, which a process that is not traced never
 * gets to see (sig_ignored() in kernel/signal.c).  Programs that have no
 * handlers do not expect it.  So the result becomes ERESTARTNOHAND, while the
 * kernel still looks at it: with a handler to run that is EINTR, without one
 * the call is made again.
 *
 * Not so after SIGSTOP and SIGCONT, which end these calls for everybody.
 *
 * A call with a time begins anew with all of it.  Under stops that come faster
 * than that it would never end: so it does, as if the time were over, when as
 * much time has gone by since the first of a chain of stops, none of which is
 * further from the one before than the time.  (Two calls from the same place
 * look like one; then the second is over too early.)  A time that cannot be
 * known is taken to be UNKNOWN_MS, and the end is EINTR.
 *
 * After the last stop of a chain the kernel would wait for all of the time once
 * more.  While there is a loop that calls super_end_calls() we stop the thread
 * when it is over, if it has not left the call by then: which is seen, as it goes
 * on with syscall-stops until it has.  The arguments are not touched: if we are
 * killed it waits for the whole time, and has the registers that it is to have.
 */
#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "dlang/base/clock.h"
#include "dlang/base/log.h"
#include "tracer/ptrace/super.h"

#define UNKNOWN_MS 1000

/* What says how long a call waits: an argument, what an argument points to, or
 * the socket that its first argument is. */
enum timed {
	TIMED_NO,
	TIMED_MS,
	TIMED_SPEC,
	TIMED_RECEIVE,
	TIMED_SEND,
	TIMED_RING,
};

/* io_uring_enter()'s flag for an argument that is more than a signal mask; not
 * every header has it. */
#define RING_EXT_ARG 8

static const struct call {
	int nr;
	enum timed timed;
	int arg;        /* where */
	int64_t result; /* when the time is over */
} calls[] = {
#ifdef SYS_epoll_wait
	{ SYS_epoll_wait, TIMED_MS, 3, 0 },
#endif
	{ SYS_epoll_pwait, TIMED_MS, 3, 0 },
#ifdef SYS_epoll_pwait2
	{ SYS_epoll_pwait2, TIMED_SPEC, 3, 0 },
#endif
	{ SYS_rt_sigtimedwait, TIMED_SPEC, 2, -EAGAIN },
	{ SYS_semop, TIMED_NO, 0, 0 },
	{ SYS_semtimedop, TIMED_SPEC, 3, -EAGAIN },
	{ SYS_msgsnd, TIMED_NO, 0, 0 },
	{ SYS_msgrcv, TIMED_NO, 0, 0 },
	{ SYS_io_getevents, TIMED_SPEC, 4, 0 },
#ifdef SYS_io_pgetevents
	{ SYS_io_pgetevents, TIMED_SPEC, 4, 0 },
#endif
#ifdef SYS_io_uring_enter
	{ SYS_io_uring_enter, TIMED_RING, 0, -ETIME },
#endif
	/* Sockets with SO_RCVTIMEO or SO_SNDTIMEO. */
	{ SYS_read, TIMED_RECEIVE, 0, -EAGAIN },
	{ SYS_readv, TIMED_RECEIVE, 0, -EAGAIN },
	{ SYS_write, TIMED_SEND, 0, -EAGAIN },
	{ SYS_writev, TIMED_SEND, 0, -EAGAIN },
	{ SYS_recvfrom, TIMED_RECEIVE, 0, -EAGAIN },
	{ SYS_recvmsg, TIMED_RECEIVE, 0, -EAGAIN },
	{ SYS_recvmmsg, TIMED_RECEIVE, 0, -EAGAIN },
	{ SYS_sendto, TIMED_SEND, 0, -EAGAIN },
	{ SYS_sendmsg, TIMED_SEND, 0, -EAGAIN },
	{ SYS_sendmmsg, TIMED_SEND, 0, -EAGAIN },
	{ SYS_accept, TIMED_RECEIVE, 0, -EAGAIN },
	{ SYS_accept4, TIMED_RECEIVE, 0, -EAGAIN },
	{ SYS_connect, TIMED_SEND, 0, -EINPROGRESS },
};

static const struct call *
call_of(int64_t nr)
{
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (calls[i].nr == nr)
			return &calls[i];
	return NULL;
}

static int64_t
now_ms(void)
{
	return (int64_t)(clock_ns(CLOCK_MONOTONIC) / NS_PER_MS);
}

/* The limit that a socket of the thread has for this direction, ms; -1 if it has
 * none, or if it cannot be asked.  It is asked by a descriptor of our own, which
 * goes when we do. */
static int64_t
socket_limit(const struct thread *th, int fd, int option)
{
	struct timeval tv = { 0 };
	socklen_t len = sizeof(tv);
	long process = syscall(SYS_pidfd_open, th->proc->pid, 0);

	if (process < 0)
		return -1;
	long own = syscall(SYS_pidfd_getfd, process, fd, 0);
	close((int)process);
	if (own < 0)
		return -1;
	int r = getsockopt((int)own, SOL_SOCKET, option, &tv, &len);
	close((int)own);
	if (r != 0 || (tv.tv_sec == 0 && tv.tv_usec == 0))
		return -1;
	return tv.tv_sec * 1000 + tv.tv_usec / 1000;
}

static int64_t
spec_at(struct thread *th, uint64_t addr)
{
	struct timespec ts;

	if (addr == 0 ||
	    reader_read(&th->proc->space->mem, addr, &ts, sizeof(ts)) != 0 ||
	    ts.tv_sec > INT32_MAX)
		return -1;
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static int64_t
ring_time(struct thread *th, uint64_t flags, uint64_t addr)
{
	uint64_t arg[3]; /* mask, its size, where the time is */

	if ((flags & RING_EXT_ARG) == 0 ||
	    reader_read(&th->proc->space->mem, addr, arg, sizeof(arg)) != 0)
		return -1;
	return spec_at(th, arg[2]);
}

/* The time that the call may take, ms; -1: as long as it wants.  *result is what
 * it returns when that is over. */
static int64_t
time_of(struct thread *th, const struct call *c, const struct uregs *regs,
    int64_t *result)
{
	uint64_t args[6];
	int64_t ms;

	regs_syscall_args(regs, args);
	*result = c->result;
	switch (c->timed) {
	case TIMED_MS: return (int32_t)args[c->arg];
	case TIMED_SPEC: return spec_at(th, args[c->arg]);
	case TIMED_RING: return ring_time(th, args[3], args[4]);
	case TIMED_RECEIVE:
		ms = socket_limit(th, (int)args[0], SO_RCVTIMEO);
		break;
	case TIMED_SEND:
		ms = socket_limit(th, (int)args[0], SO_SNDTIMEO);
		break;
	default: return -1;
	}
	if (ms >= 0)
		return ms;
	*result = -EINTR;
	return UNKNOWN_MS;
}

/* The end of a call of the thread's is to be seen to. */
static void
end_on_time(struct thread *th, int64_t due)
{
	struct super *su = th->proc->super;

	if (!su->time_calls)
		return;
	th->restart.due = due;
	if (su->calls_due == 0 || due < su->calls_due)
		su->calls_due = due;
}

void
super_time_calls(struct super *su, bool on)
{
	su->time_calls = on;
}

uint64_t
super_calls_due(const struct super *su)
{
	return (uint64_t)su->calls_due * 1000000;
}

void
super_end_calls(struct super *su)
{
	int64_t now = now_ms();

	su->calls_due = 0;
	hash_foreach(e, &su->threads) {
		struct thread *th = e->value;
		int64_t due = th->restart.due;
		if (due == 0 || !thread_runs(th))
			continue;
		if (due <= now)
			thread_interrupt(th);
		else
			end_on_time(th, due);
	}
}

/* Has the call been made again for as long as it may take? */
static bool
is_over(struct thread *th, const struct uregs *regs, int64_t ms)
{
	struct restart *r = &th->restart;
	int64_t now = now_ms();
	bool same = r->ip == regs->r[UREG_PC] && r->sp == regs->r[UREG_SP] &&
	    now - r->last < ms;

	if (same && now - r->first >= ms)
		return true;
	if (!same)
		r->first = now;
	r->last = now;
	r->ip = regs->r[UREG_PC];
	r->sp = regs->r[UREG_SP];
	return false;
}

void
restart_event_stop(struct thread *th, bool continued)
{
	th->restart.continued = continued;
}

void
restart_left(struct thread *th)
{
	th->restart.due = 0;
}

/* Was it SIGSTOP that broke it off, or its like?  The end of a group-stop is
 * an event-stop, and then SIGCONT is delivered to one of the threads. */
static bool
is_stopped_by_job(struct thread *th)
{
	bool after = th->restart.continued;

	switch (th->stop.kind) {
	case EV_GROUP_STOP: return true;
	case EV_STOP: return after;
	default: break;
	}
	th->restart.continued = false;
	switch (th->stop.sig) {
	case SIGSTOP:
	case SIGTSTP:
	case SIGTTIN:
	case SIGTTOU: return true;
	case SIGCONT: return after;
	default: return false;
	}
}

/* Can this stop be one inside or behind an interrupted call?  No registers are
 * fetched for the many that cannot. */
static bool
may_be(const struct thread *th)
{
	switch (th->stop.kind) {
	case EV_STOP:
	case EV_SIGNAL: return true;
	case EV_TRAP: return th->stop.sig != 0;
	case EV_SYSCALL_EXIT:
		return thread_regs_had(th) != NULL ||
		    call_of(th->call.nr) != NULL;
	default: return false;
	}
}

bool
thread_filter_looks(const struct thread *th)
{
	struct proc_status st;

	return th->stop.kind == EV_SYSCALL_ENTER &&
	    procfs_status(th->tid, &st) == 0 && st.seccomp != 0;
}

/*
 * Detaching leaves a thread with the mark of a signal, upon which a call that is
 * just being entered ends at once.  It is entered anew, without the mark: the
 * kernel is told to make no call, and the thread is put back onto its system
 * call instruction.
 *
 * Not so where a filter is still to look: it would see the number that stands for
 * no call, and might kill for it.
 */
static bool
would_end(struct thread *th)
{
	if (!thread_stopped(th) ||
	    (th->stop.kind != EV_SYSCALL_ENTER && th->stop.kind != EV_SECCOMP))
		return false;
	struct uregs *regs = thread_regs(th);
	return regs != NULL && call_of(regs_syscall_nr(regs)) != NULL;
}

bool
thread_must_enter(struct thread *th)
{
	return would_end(th) && thread_filter_looks(th);
}

void
thread_put_off_call(struct thread *th)
{
	if (!would_end(th) || thread_filter_looks(th))
		return;
	regs_redo_syscall(thread_regs(th));
	thread_regs_dirty(th);
}

void
thread_restart_call(struct thread *th)
{
	struct uregs *regs = may_be(th) ? thread_regs(th) : NULL;

	if (regs == NULL || regs_result(regs) != -EINTR)
		return;
	const struct call *c = call_of(regs_syscall_nr(regs));
	if (c == NULL || is_stopped_by_job(th))
		return;
	int64_t result, ms = time_of(th, c, regs, &result);
	if (ms < 0 || !is_over(th, regs, ms)) {
		if (ms >= 0 && result != -EINTR &&
		    th->restart.first != th->restart.last)
			end_on_time(th, th->restart.first + ms);
		result = -ERESTARTNOHAND;
	} else if (result == -EINTR) {
		return; /* however often it is looked at */
	} else {
		th->restart.ip = 0;
	}
	LOG("proc", "%d: system call %d was interrupted: %lld", (int)th->tid,
	    c->nr, (long long)result);
	regs_set_result(regs, result);
	thread_regs_dirty(th);
	/* Let the kernel look at it, whatever EINTR came of. */
	if (th->stop.kind == EV_SYSCALL_EXIT)
		thread_interrupt(th);
}
