/*
 * See trapqueue.h.  The kernel discards pending SIGTRAPs in two cases:
 *
 *	SIG_IGN is set		all of the process are discarded, do_sigaction() in
 *				kernel/signal.c
 *	an int3 is executed	its SIGTRAP is merged with the first one of the
 *				thread, because a standard signal is queued only once
 *				(legacy_queue()); the thread stops for that one
 *
 * Each thread sends its own signals again (requeue.c).  Those of the process are
 * sent by any of its threads.
 *
 * A signal of a timer is queued even if others are pending, and is discarded
 * when the timer is deleted.  So a timer that has expired, and is not set, must
 * send its signal again: dtrap sets it to a time in the past.  This loses
 * nothing, because the signal had not been delivered.  A periodic timer is set
 * to continue at its next time; its pending signal is queued like others.
 */
#include "tracer/ptrace/trapqueue.h"

#include <sys/syscall.h>
#include <time.h>

#include "dlang/base/fault.h"
#include "dlang/base/log.h"
#include "inject/trap/area.h"
#include "tracer/ptrace/datawatch.h"
#include "tracer/ptrace/event.h"
#include "tracer/ptrace/remote.h"
#include "tracer/ptrace/requeue.h"
#include "tracer/ptrace/super.h"

/* How often trapqueue_keep() tries.  Another process may send a SIGTRAP
 * first. */
#define TRIES 3
/* How often dtrap checks whether a timer that was set to a past time has
 * expired. */
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
	/* A SIGTRAP for I/O on a file (F_SETSIG) has SI_SIGIO, which is
	 * negative: the kernel uses no POLL_ code with signals that have codes
	 * of their own. */
	return si->si_code <= 0 && si->si_code != TRAP_DONE;
}

/* ---- sending ---- */

static bool
is_zero(const struct timespec *ts)
{
	return ts->tv_sec == 0 && ts->tv_nsec == 0;
}

/* If the signal is from a timer that is not set any more, make the timer send
 * it again.  True if it has been sent. */
static bool
sent_by_timer(struct proc *p, struct thread *th, const siginfo_t *si)
{
	struct itimerspec its = { 0 };
	const uint64_t id = (uint32_t)si->si_timerid;
	const uint64_t get[6] = { id, REMOTE_DATA };
	uint64_t set[6] = { id, 0, REMOTE_DATA };

	if (si->si_code != SI_TIMER ||
	    !requeue_call(
		p, th, false, SYS_timer_gettime, get, &its, sizeof(its)))
		return false;
	if (!is_zero(&its.it_interval)) {
		requeue_call(
		    p, th, false, SYS_timer_settime, set, &its, sizeof(its));
		return false;
	}
	if (!is_zero(&its.it_value))
		return false;
	its.it_value.tv_nsec = 1;
	set[1] = TIMER_ABSTIME;
	if (!requeue_call(
		p, th, false, SYS_timer_settime, set, &its, sizeof(its)))
		return false;
	for (int n = 0; n < LOOKS && !is_zero(&its.it_value); n++)
		if (!requeue_call(p, th, false, SYS_timer_gettime, get, &its,
			sizeof(its)))
			break;
	return true;
}

static bool
send_to_process(struct proc *p, siginfo_t *si)
{
	struct thread *th = NULL;
	pid_t pid, tid;

	/* Each thread sends it to its own tid; rt_sigqueueinfo() makes it
	 * pending for the process in any case. */
	while ((th = remote_next_in(p, th)) != NULL) {
		if (procfs_inner(th->tid, &pid, &tid) != 0)
			continue;
		const uint64_t args[6] = { (uint32_t)tid, SIGTRAP,
			REMOTE_DATA };
		if (requeue_call(p, th, true, SYS_rt_sigqueueinfo, args, si,
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
	    (one->th != NULL ? requeue_send(one->th, &one->si) :
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

static bool
all_sent(const struct trapqueue *q)
{
	vec_foreach(one, &q->list)
		if (!trapqueue_is_sent(&one->si))
			return false;
	return true;
}

/* Discard what is pending for the thread and its process, if all SIGTRAPs of
 * the thread were sent.  The kernel returns the thread's own signals first, so
 * one of an int3 would be removed otherwise. */
static void
discard(struct thread *th)
{
	struct trapqueue q = { 0 };

	read_one(th, false, &q);
	bool sent = all_sent(&q);
	read_one(th, true, &q);
	if (sent)
		requeue_take(th, SIGTRAP, q.list.len);
	vec_fini(&q.list);
}

void
trapqueue_discard(struct proc *p)
{
	vec_foreach(th, &p->threads)
		if (thread_stopped(*th))
			discard(*th);
}

void
trapqueue_discard_data(struct thread *th)
{
	struct trapqueue q = { 0 };
	size_t left = 0, n;

	read_one(th, false, &q);
	n = q.list.len;
	for (size_t i = 0; i < n; i++)
		if (!datawatch_is(&q.list.at[i].si))
			q.list.at[left++] = q.list.at[i];
	q.list.len = left;
	if (left < n && requeue_take(th, SIGTRAP, n) == n)
		trapqueue_send(th->proc, &q);
	vec_fini(&q.list);
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

/* Remove the SIGTRAPs that are pending for the thread; send this one, then those
 * that it has overtaken, and then those of the removed ones that differ from
 * it. */
static bool
send_first(struct thread *th, const siginfo_t *si)
{
	struct trapqueue q = { 0 }, pending = { 0 };
	struct trap_pending one = { .si = *si, .th = th };

	*vec_push(&q.list) = one;
	while (signal_take_owed(th, SIGTRAP, &one.si))
		*vec_push(&q.list) = one;
	read_one(th, false, &pending);
	requeue_take(th, SIGTRAP, pending.list.len);
	vec_foreach(each, &pending.list)
		if (!is_same(&each->si, si) &&
		    !(trapqueue_is_sent(&each->si) &&
			signal_is_ours(&each->si)))
			*vec_push(&q.list) = *each;
	vec_fini(&pending.list);
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
