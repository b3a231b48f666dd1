/*
 * See trapqueue.h.  Who throws them away, and where:
 *
 *	SIG_IGN is set		all of the process, do_sigaction() in
 *				kernel/signal.c
 *	an int3 comes		it is one with the first of the thread (a standard
 *				signal is queued once, legacy_queue()), which is
 *				what the thread stops for
 *
 * A thread may send itself any siginfo, as it is (rt_tgsigqueueinfo(2)); others
 * only those that no kill(), tgkill() or kernel has sent.  So each thread sends
 * its own, and of what is the process's any the whole.
 *
 * What a timer sends is queued however many there are, and goes when the timer
 * is deleted.  So a timer that has expired and is not set sends its signal again:
 * it is set to a time that has passed.  (It takes no other state: the signal
 * that it has sent was not delivered.)  One that repeats is set to go on at its
 * next time, and what it has sent is queued like all else.
 */
#include "tracer/trapqueue.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "dlang/base/fault.h"
#include "dlang/base/log.h"
#include "inject/trap/area.h"
#include "tracer/event.h"
#include "tracer/remote.h"
#include "tracer/super_impl.h"

/* The kernel takes no other size of a set of signals. */
#define SET_SIZE (SIGNALS / 8)

#define PAGE 4096U

/* Somebody may send one before ours is back: then once more, but not for ever. */
#define TRIES 3

static void
read_one(struct thread *th, bool shared, struct trapqueue *q)
{
	siginfo_t si;

	for (unsigned i = 0; thread_pending(th, shared, i, &si); i++)
		if (si.si_signo == SIGTRAP)
			*vec_push(&q->list) = (struct trap_pending){
				.si = si, .th = shared ? NULL : th
			};
}

void
trapqueue_read(struct proc *p, struct trapqueue *q)
{
	bool shared = false;

	vec_foreach(at, &p->threads) {
		struct thread *th = *at;
		if (th->state != TH_STOPPED)
			continue;
		read_one(th, false, q);
		if (!shared)
			read_one(th, true, q);
		shared = true;
	}
}

bool
trapqueue_is_sent(const siginfo_t *si)
{
	/* The numbers of a SIGTRAP's causes are also those of what has happened
	 * to a file, and which it is tells what stands beside: the address of an
	 * instruction, or a few bits of poll(2). */
	return si->si_code > 0 ?
	    si->si_code != SI_KERNEL && (uintptr_t)si->si_addr < PAGE :
	    si->si_code != TRAP_DONE;
}

/* ---- sending ---- */

/* A call in the thread, or, if not `alone', in another of the process. */
static bool
call(struct proc *p, struct thread *th, bool alone, long nr,
    const uint64_t args[6], void *data, size_t size)
{
	struct thread *next = th != NULL ? th : remote_next_in(p, NULL);
	int64_t result = -1;

	while (next != NULL &&
	    remote_syscall_data(next, nr, args, data, size, &result) != 0)
		next = alone ? NULL : remote_next_in(p, next);
	return result == 0;
}

/* Does the timer send it itself? */
static bool
sent_by_timer(struct proc *p, struct thread *th, const siginfo_t *si)
{
	struct itimerspec its = { 0 };
	const uint64_t id = (uint32_t)si->si_timerid;
	const uint64_t get[6] = { id, REMOTE_DATA };
	uint64_t set[6] = { id, 0, REMOTE_DATA };

	if (si->si_code != SI_TIMER ||
	    !call(p, th, false, SYS_timer_gettime, get, &its, sizeof(its)))
		return false;
	bool is_set = its.it_value.tv_sec != 0 || its.it_value.tv_nsec != 0;
	bool repeats =
	    its.it_interval.tv_sec != 0 || its.it_interval.tv_nsec != 0;
	if (is_set && !repeats)
		return false;
	if (!is_set) {
		its.it_value.tv_nsec = 1;
		set[1] = TIMER_ABSTIME;
	}
	return call(p, th, false, SYS_timer_settime, set, &its, sizeof(its)) &&
	    !is_set;
}

static bool
send_to_thread(struct thread *th, siginfo_t *si)
{
	/* Nobody says that the kernel has sent it, or another by kill(). */
	bool anybody = si->si_code < 0 && si->si_code != SI_TKILL;
	pid_t pid, tid;

	if (procfs_inner(th->tid, &pid, &tid) != 0)
		return false;
	const uint64_t args[6] = { (uint32_t)pid, (uint32_t)tid, SIGTRAP,
		REMOTE_DATA };
	return call(th->proc, th, !anybody, SYS_rt_tgsigqueueinfo, args, si,
	    sizeof(*si));
}

static bool
send_to_process(struct proc *p, siginfo_t *si)
{
	struct thread *th = NULL;
	pid_t pid, tid;

	/* Whose number it is sent to, it is the process's. */
	while ((th = remote_next_in(p, th)) != NULL) {
		if (procfs_inner(th->tid, &pid, &tid) != 0)
			continue;
		const uint64_t args[6] = { (uint32_t)tid, SIGTRAP,
			REMOTE_DATA };
		if (call(p, th, true, SYS_rt_sigqueueinfo, args, si,
			sizeof(*si)))
			return true;
	}
	return false;
}

static bool
send_one(struct proc *p, struct trap_pending *one)
{
	static_assert(sizeof(one->si) <= REMOTE_DATA_MAX, "it passes");
	bool sent = sent_by_timer(p, one->th, &one->si) ||
	    (one->th != NULL ? send_to_thread(one->th, &one->si) :
			       send_to_process(p, &one->si));
	LOG("sigtrap", "%d: a SIGTRAP, code %d, is %spending again",
	    (int)(one->th != NULL ? one->th->tid : p->pid), one->si.si_code,
	    sent ? "" : "not ");
	fault_kill("trapqueue-sent");
	return sent;
}

bool
trapqueue_send(struct proc *p, struct trapqueue *q)
{
	bool all = true;

	vec_foreach(one, &q->list) all &= send_one(p, one);
	vec_fini(&q->list);
	return all;
}

/* ---- a stop at one ---- */

/* Takes out all that are pending for the thread itself. */
static void
take_out(struct thread *th, size_t n)
{
	struct {
		uint64_t set;
		struct timespec at_once;
	} wait = { .set = SIGBIT(SIGTRAP) };
	const uint64_t args[6] = { REMOTE_DATA, 0,
		REMOTE_DATA + offsetof(typeof(wait), at_once), SET_SIZE };
	int64_t result = SIGTRAP;

	for (; n > 0 && result == SIGTRAP; n--)
		if (remote_syscall_data(th, SYS_rt_sigtimedwait, args, &wait,
			sizeof(wait), &result) != 0)
			return;
}

static bool
is_first(struct thread *th, const siginfo_t *si)
{
	struct trapqueue q = { 0 };

	read_one(th, false, &q);
	const siginfo_t *first = q.list.len > 0 ? &q.list.at[0].si : NULL;
	bool is = first != NULL && first->si_code == si->si_code &&
	    first->si_pid == si->si_pid && first->si_uid == si->si_uid &&
	    first->si_value.sival_ptr == si->si_value.sival_ptr;
	vec_fini(&q.list);
	return is;
}

/* Behind it those that are pending by now: of a number that is queued once they
 * would not be, had it been there. */
static bool
send_first(struct thread *th, const siginfo_t *si)
{
	struct trapqueue q = { 0 };

	*vec_push(&q.list) = (struct trap_pending){ .si = *si, .th = th };
	read_one(th, false, &q);
	take_out(th, q.list.len - 1);
	return trapqueue_send(th->proc, &q);
}

bool
trapqueue_keep(struct thread *th)
{
	siginfo_t si;
	bool sent;
	int n = 0;

	if (thread_siginfo(th, &si) < 0)
		return false;
	thread_regs_moved(th);
	thread_settle(th);
	th->stop = EV_STOP;
	do
		sent = send_first(th, &si);
	while (sent && si.si_code != SI_TIMER && !is_first(th, &si) &&
	    ++n < TRIES);
	if (!sent)
		thread_set_siginfo(th, &si);
	return thread_regs(th) != NULL && sent;
}
