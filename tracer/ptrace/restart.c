/*
 * Restarts system calls that a stop by dtrap would end.
 *
 * When a thread is stopped and continued, the kernel restarts most calls that
 * wait.  Some calls return EINTR after any stop.  They also return EINTR after
 * a signal that the program ignores; an untraced process never notices such a
 * signal (sig_ignored() in kernel/signal.c).  Programs without handlers do not
 * expect EINTR.  So dtrap changes the result to ERESTARTNOHAND before the
 * kernel examines it.  The kernel then returns EINTR if a handler runs, and
 * restarts the call otherwise.
 *
 * This is not done after SIGSTOP and SIGCONT, which end these calls in an
 * untraced process, too.
 *
 * A restarted call with a time limit begins with the full limit.  If stops
 * follow each other faster than that, it would never end.  So dtrap keeps a
 * chain of stops: each is closer to the one before than the time limit.  When
 * the time since the first stop of the chain exceeds the limit, the call
 * returns as if its time was over.  (Two calls from the same place look like
 * one; then the second ends too early.)  A time limit that cannot be found out
 * is taken to be UNKNOWN_MS, and such a call ends with EINTR.
 *
 * After the last stop of a chain the kernel would wait for the full limit once
 * more.  After super_time_calls(su, true), the loop calls super_end_calls(),
 * which interrupts the thread at the right time if it is still in the call.
 * Until it has left the call, it is continued with syscall-stops, so that dtrap
 * sees the end.  The arguments of the call are not changed: if dtrap is killed,
 * the thread has its own registers, and waits for the full limit.
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

/* Where the time limit of a call is: in an argument, in memory to which an
 * argument points, or in the options of the socket that the first argument
 * names. */
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

/* The time limit of a socket of the thread for this direction, ms; -1 if it has
 * none, or if it cannot be read.  It is read through a copy of the file
 * descriptor in dtrap (pidfd_getfd(2)). */
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
	uint64_t arg[3]; /* mask, its size, address of the time */

	if ((flags & RING_EXT_ARG) == 0 ||
	    reader_read(&th->proc->space->mem, addr, arg, sizeof(arg)) != 0)
		return -1;
	return spec_at(th, arg[2]);
}

/* The time limit of the call, ms; -1: it has none.  *result becomes what the
 * call returns when its time is over. */
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

/* super_end_calls() is to end the thread's call at the time `due', ms. */
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

/* Is the time limit over, counted from the first stop of the chain?  The chain
 * is continued, or a new one is begun. */
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

/* Has a stop signal or SIGCONT interrupted the call?  When a group-stop ends,
 * there is an event-stop, and then SIGCONT is delivered to one of the
 * threads. */
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

/* May this stop be in an interrupted call or just after it?  If not, which is
 * the usual case, the registers need not be fetched. */
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
 * Would a detach end the call that the thread is about to make?  The detach
 * sets the thread's flag for a pending signal, so a call of the table ends at
 * once if it is just being entered.  thread_put_off_call() avoids that: the
 * kernel makes no call, and the pc is set back to the system call instruction,
 * so that the thread enters the call again, without the flag.
 *
 * This is not possible if a filter will still check the call: it would see the
 * number that means "no call", and might kill the process for it.
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
		return; /* EINTR stays the result */
	} else {
		th->restart.ip = 0;
	}
	LOG("proc", "%d: system call %d was interrupted: %lld", (int)th->tid,
	    c->nr, (long long)result);
	regs_set_result(regs, result);
	thread_regs_dirty(th);
	/* A pending interrupt makes the kernel examine the result and restart
	 * the call. */
	if (th->stop.kind == EV_SYSCALL_EXIT)
		thread_interrupt(th);
}
