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
#include "tracer/ptrace/trapqueue.h"

#include <sys/syscall.h>
#include <time.h>

#include "dlang/base/fault.h"
#include "dlang/base/log.h"
#include "inject/trap/area.h"
#include "tracer/ptrace/event.h"
#include "tracer/ptrace/remote.h"
#include "tracer/ptrace/super.h"

/* Somebody may send one before ours is back: then once more, but not for ever. */
#define TRIES 3
/* A time that has passed is over as soon as the processor hears of it. */
#define LOOKS 100

static void
read_one(struct thread *th, bool shared, struct trapqueue *q)
{
	siginfo_t si;

	for (unsigned i = 0; thread_pending(th, shared, i, &si); i++)
		if (si.si_signo == SIGTRAP)
			*vec_push(&q->list) = (struct trap_pending){ .si = si,
				.th = shared ? NULL : th };
}

void
trapqueue_read(struct proc *p, struct trapqueue *q)
{
	bool shared = false;

	vec_foreach(at, &p->threads) {
		struct thread *th = *at;
		if (!thread_stopped(th))
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
	/* A file's is SI_SIGIO: the kernel gives no code to a signal that has
	 * causes of its own by that number. */
	return si->si_code <= 0 && si->si_code != TRAP_DONE;
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

static bool
is_zero(const struct timespec *ts)
{
	return ts->tv_sec == 0 && ts->tv_nsec == 0;
}

/* Does the timer send it itself?  It has when it is not set any more. */
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
	if (!is_zero(&its.it_interval)) {
		call(p, th, false, SYS_timer_settime, set, &its, sizeof(its));
		return false;
	}
	if (!is_zero(&its.it_value))
		return false;
	its.it_value.tv_nsec = 1;
	set[1] = TIMER_ABSTIME;
	if (!call(p, th, false, SYS_timer_settime, set, &its, sizeof(its)))
		return false;
	for (int n = 0; n < LOOKS && !is_zero(&its.it_value); n++)
		if (!call(p, th, false, SYS_timer_gettime, get, &its,
			sizeof(its)))
			break;
	return true;
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

	vec_foreach(one, &q->list)
		all &= send_one(p, one);
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
all_sent(const struct trapqueue *q)
{
	vec_foreach(one, &q->list)
		if (!trapqueue_is_sent(&one->si))
			return false;
	return true;
}

/* The kernel gives a thread its own before those of the process. */
static void
discard(struct thread *th)
{
	struct trapqueue q = { 0 };

	read_one(th, false, &q);
	bool sent = all_sent(&q);
	read_one(th, true, &q);
	if (sent)
		take_out(th, q.list.len);
	vec_fini(&q.list);
}

void
trapqueue_discard(struct proc *p)
{
	vec_foreach(th, &p->threads)
		if (thread_stopped(*th))
			discard(*th);
}

static bool
is_same(const siginfo_t *a, const siginfo_t *b)
{
	return a->si_code == b->si_code && a->si_pid == b->si_pid &&
	    a->si_uid == b->si_uid &&
	    a->si_value.sival_ptr == b->si_value.sival_ptr;
}

bool
trapqueue_has(struct thread *th)
{
	struct trapqueue q = { 0 };

	read_one(th, false, &q);
	bool has = q.list.len > 0;
	vec_fini(&q.list);
	return has;
}

static bool
is_first(struct thread *th, const siginfo_t *si)
{
	struct trapqueue q = { 0 };

	read_one(th, false, &q);
	bool is = q.list.len > 0 && is_same(&q.list.at[0].si, si);
	vec_fini(&q.list);
	return is;
}

/* Behind it those that are pending by now: of a number that is queued once they
 * would not be, had it been there. */
static bool
send_first(struct thread *th, const siginfo_t *si)
{
	struct trapqueue q = { 0 };
	size_t kept = 1;

	*vec_push(&q.list) = (struct trap_pending){ .si = *si, .th = th };
	read_one(th, false, &q);
	take_out(th, q.list.len - 1);
	for (size_t i = 1; i < q.list.len; i++)
		if (!is_same(&q.list.at[i].si, si))
			q.list.at[kept++] = q.list.at[i];
	q.list.len = kept;
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
	stop_becomes(th, EV_STOP);
	do
		sent = send_first(th, &si);
	while (sent && !is_first(th, &si) && ++n < TRIES);
	if (!sent)
		thread_set_siginfo(th, &si);
	return thread_regs(th) != NULL && sent;
}
