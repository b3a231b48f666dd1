/*
 * See requeue.h.
 */
#include "tracer/ptrace/requeue.h"

#include <sys/syscall.h>
#include <time.h>

#include "tracer/ptrace/remote.h"
#include "tracer/ptrace/super.h"

bool
requeue_call(struct proc *p, struct thread *th, bool alone, long nr,
    const uint64_t args[6], void *data, size_t size)
{
	struct thread *next = th != NULL ? th : remote_next_in(p, NULL);
	int64_t result = -1;

	while (next != NULL &&
	    remote_syscall_data(next, nr, args, data, size, &result) != 0)
		next = alone ? NULL : remote_next_in(p, next);
	return result == 0;
}

/* sigtimedwait() also returns a signal that is not blocked. */
size_t
requeue_take(struct thread *th, int sig, size_t n)
{
	struct {
		uint64_t set;
		struct timespec at_once;
	} wait = { .set = SIGBIT(sig) };
	const uint64_t args[6] = { REMOTE_DATA, 0,
		REMOTE_DATA + offsetof(typeof(wait), at_once), SET_SIZE };
	int64_t result = sig;
	size_t taken = 0;

	while (taken < n &&
	    remote_syscall_data(th, SYS_rt_sigtimedwait, args, &wait,
		sizeof(wait), &result) == 0 &&
	    result == sig)
		taken++;
	return taken;
}

bool
requeue_by_any(const siginfo_t *si)
{
	return si->si_code < 0 && si->si_code != SI_TKILL;
}

bool
requeue_send(struct thread *th, siginfo_t *si)
{
	pid_t pid, tid;

	static_assert(sizeof(*si) <= REMOTE_DATA_MAX, "it passes");
	if (procfs_inner(th->tid, &pid, &tid) != 0)
		return false;
	const uint64_t args[6] = { (uint32_t)pid, (uint32_t)tid,
		(uint32_t)si->si_signo, REMOTE_DATA };
	return requeue_call(th->proc, th, !requeue_by_any(si),
	    SYS_rt_tgsigqueueinfo, args, si, sizeof(*si));
}
