/*
 * The ptrace requests about one thread.  One that finds no thread (ESRCH) means
 * that it was killed: its end arrives as a status.
 */
#include <errno.h>
#include <sys/ptrace.h>

#include "tracer/ptrace/super.h"

#define OPTIONS                                                             \
	(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | \
	    PTRACE_O_TRACEVFORK | PTRACE_O_TRACEVFORKDONE |                 \
	    PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT)

static int
request(enum __ptrace_request what, pid_t tid, uintptr_t addr, uintptr_t data)
{
	return ptrace(what, tid, (void *)addr, (void *)data) == 0 ? 0 : -errno;
}

int
thread_seize(pid_t tid, const volatile int *flag)
{
	return wait_seize(tid, OPTIONS, flag);
}

int
thread_take_seccomp(struct thread *th)
{
	return request(PTRACE_SETOPTIONS, th->tid, 0,
	    OPTIONS | PTRACE_O_TRACESECCOMP | PTRACE_O_EXITKILL);
}

int
thread_interrupt(struct thread *th)
{
	stop_ask(th, false);
	return request(PTRACE_INTERRUPT, th->tid, 0, 0);
}

int
tid_eventmsg(pid_t tid, unsigned long *msg)
{
	return request(PTRACE_GETEVENTMSG, tid, 0, (uintptr_t)msg);
}

int
thread_sigmask(struct thread *th, uint64_t *mask)
{
	return request(
	    PTRACE_GETSIGMASK, th->tid, sizeof(*mask), (uintptr_t)mask);
}

int
thread_set_sigmask(struct thread *th, uint64_t mask)
{
	if (th->stop.executed)
		return -ESRCH;
	return request(
	    PTRACE_SETSIGMASK, th->tid, sizeof(mask), (uintptr_t)&mask);
}

int
tid_release(pid_t tid, int sig)
{
	return request(PTRACE_DETACH, tid, 0, (uintptr_t)sig);
}

int
thread_siginfo(struct thread *th, siginfo_t *si)
{
	if (!thread_at_hand(th))
		return -ESRCH;
	if (!th->stop.has_info) {
		int error =
		    request(PTRACE_GETSIGINFO, th->tid, 0, (uintptr_t)si);

		if (error < 0)
			return error;
		stop_info(th, si);
	}
	*si = th->stop.info;
	return 0;
}

int
thread_set_siginfo(struct thread *th, const siginfo_t *si)
{
	if (!thread_at_hand(th))
		return -ESRCH;
	stop_info(th, NULL);
	return request(PTRACE_SETSIGINFO, th->tid, 0, (uintptr_t)si);
}

void
thread_ask(struct thread *th)
{
	stop_ask(th, true);
	thread_interrupt(th);
}

bool
thread_pending(const struct thread *th, bool shared, unsigned i, siginfo_t *si)
{
	struct __ptrace_peeksiginfo_args args = { .off = i,
		.flags = shared ? PTRACE_PEEKSIGINFO_SHARED : 0,
		.nr = 1 };

	return ptrace(PTRACE_PEEKSIGINFO, th->tid, &args, si) == 1;
}

static bool
is_pending(const struct thread *th, bool shared, int sig)
{
	siginfo_t si;

	for (unsigned i = 0; thread_pending(th, shared, i, &si); i++)
		if (si.si_signo == sig)
			return true;
	return false;
}

bool
thread_owns_pending(const struct thread *th, int sig)
{
	return is_pending(th, false, sig);
}

bool
thread_has_pending(const struct thread *th, int sig)
{
	return is_pending(th, false, sig) || is_pending(th, true, sig);
}

int
tid_go(pid_t tid, enum go how, int sig)
{
	static const enum __ptrace_request requests[] = {
		[GO_FREE] = PTRACE_CONT,
		[GO_CALLS] = PTRACE_SYSCALL,
		[GO_LISTEN] = PTRACE_LISTEN,
	};

	return request(requests[how], tid, 0, (uintptr_t)sig);
}

int
tid_interrupt(pid_t tid)
{
	return request(PTRACE_INTERRUPT, tid, 0, 0);
}
