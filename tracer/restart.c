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
 * look like one; then the second is over too early.)  A time that is not known,
 * that of a socket, is taken to be UNKNOWN_MS, and the end is EINTR.
 */
#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>

#include "dlang/base/log.h"
#include "tracer/super_impl.h"

#define UNKNOWN_MS 1000

/* How a call says how long it waits. */
enum timed { TIMED_NO, TIMED_MS, TIMED_SPEC, TIMED_SOCKET };

static const struct call {
	int nr;
	enum timed timed;
	int arg;        /* where */
	int64_t result; /* when the time is over */
} calls[] = {
	{ SYS_epoll_wait, TIMED_MS, 3, 0 },
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
	{ SYS_io_uring_enter, TIMED_SOCKET, 0, 0 },
#endif
	/* Sockets with SO_RCVTIMEO or SO_SNDTIMEO. */
	{ SYS_read, TIMED_SOCKET, 0, 0 },
	{ SYS_readv, TIMED_SOCKET, 0, 0 },
	{ SYS_write, TIMED_SOCKET, 0, 0 },
	{ SYS_writev, TIMED_SOCKET, 0, 0 },
	{ SYS_recvfrom, TIMED_SOCKET, 0, 0 },
	{ SYS_recvmsg, TIMED_SOCKET, 0, 0 },
	{ SYS_recvmmsg, TIMED_SOCKET, 0, 0 },
	{ SYS_sendto, TIMED_SOCKET, 0, 0 },
	{ SYS_sendmsg, TIMED_SOCKET, 0, 0 },
	{ SYS_sendmmsg, TIMED_SOCKET, 0, 0 },
	{ SYS_accept, TIMED_SOCKET, 0, 0 },
	{ SYS_accept4, TIMED_SOCKET, 0, 0 },
	{ SYS_connect, TIMED_SOCKET, 0, 0 },
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
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* The time that the call may take, ms; -1: as long as it wants. */
static int64_t
time_of(struct thread *th, const struct call *c, const struct uregs *regs)
{
	struct timespec ts;
	uint64_t args[6];

	regs_syscall_args(regs, args);
	switch (c->timed) {
	case TIMED_MS: return (int32_t)args[c->arg];
	case TIMED_SPEC:
		if (args[c->arg] == 0 ||
		    reader_read(&th->proc->space->mem, args[c->arg], &ts,
			sizeof(ts)) != 0 ||
		    ts.tv_sec > INT32_MAX)
			return -1;
		return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
	case TIMED_SOCKET: return UNKNOWN_MS;
	default: return -1;
	}
}

/* Has the call been made again for as long as it may take? */
static bool
is_over(struct thread *th, const struct uregs *regs, int64_t ms)
{
	struct redone *r = &th->redone;
	int64_t now = now_ms();
	bool same = r->ip == regs->r[UREG_RIP] && r->sp == regs->r[UREG_RSP] &&
	    now - r->last < ms;

	if (same && now - r->first >= ms) {
		r->ip = 0;
		return true;
	}
	if (!same)
		r->first = now;
	r->last = now;
	r->ip = regs->r[UREG_RIP];
	r->sp = regs->r[UREG_RSP];
	return false;
}

/* Was it SIGSTOP that broke it off, or its like?  The end of a group-stop is
 * an event-stop, and then SIGCONT is delivered to one of the threads. */
static bool
is_stopped_by_job(struct thread *th)
{
	bool after = th->continued;

	switch (th->stop) {
	case EV_GROUP_STOP: return true;
	case EV_STOP: return after;
	default: break;
	}
	th->continued = false;
	switch (th->sig) {
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
	switch (th->stop) {
	case EV_STOP:
	case EV_SIGNAL: return true;
	case EV_TRAP: return th->sig != 0;
	case EV_SYSCALL_EXIT:
		return th->regs_valid || call_of(th->call.nr) != NULL;
	default: return false;
	}
}

/*
 * Detaching leaves a thread with the mark of a signal, upon which a call that is
 * just being entered ends at once.  It is entered anew, without the mark: the
 * kernel is told to make no call, and the thread is put back onto its system
 * call instruction.
 */
void
thread_put_off_call(struct thread *th)
{
	if (th->stop != EV_SYSCALL_ENTER && th->stop != EV_SECCOMP)
		return;
	struct uregs *regs = thread_regs(th);
	if (regs == NULL || call_of(regs_syscall_nr(regs)) == NULL)
		return;
	regs_redo_syscall(regs);
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
	int64_t ms = time_of(th, c, regs), result = -ERESTARTNOHAND;
	if (ms >= 0 && is_over(th, regs, ms))
		result = c->timed == TIMED_SOCKET ? -EINTR : c->result;
	LOG("proc", "%d: system call %d was interrupted: %lld", (int)th->tid,
	    c->nr, (long long)result);
	regs_set_result(regs, result);
	thread_regs_dirty(th);
	/* Let the kernel look at it, whatever EINTR came of. */
	if (th->stop == EV_SYSCALL_EXIT)
		thread_interrupt(th);
}
