/*
 * Keeps the order of signals.  dtrap makes a system call in a thread that is
 * stopped for a signal D, while other signals of the same number, X1 and X2,
 * are pending for the thread.
 *
 * After the call dtrap injects the signal again.  The kernel queues the
 * injected one, K, behind the others, and the thread stops for the first one:
 *
 *	the stop is for  D    pending  X1 X2     before the call
 *	                 X1            X2 K      after it
 *
 * If dtrap may send X1 and X2 with their siginfo (rt_tgsigqueueinfo(2)), it
 * takes each of them and queues it again, behind K.  Then the thread stops for
 * K, which gets the siginfo of D.
 *
 * Otherwise dtrap changes siginfos: X1 gets that of D, X2 that of X1, and K
 * that of X2.  The list `owed' has the siginfos that are still to be delivered,
 * in order.  Of a standard signal the kernel queues only one, so there is no K
 * if X1 is pending: then dtrap sends X1 anew, or one more signal of that number.
 * Only timers can make several of them pending.
 *
 * When the thread is detached, the pending ones are taken from the kernel, and
 * the owed ones are queued in their place (requeue.c).  A standard signal that is
 * owed while another of its number is in delivery has a wrong siginfo then.
 */
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "dlang/base/log.h"
#include "tracer/ptrace/requeue.h"
#include "tracer/ptrace/super.h"

/* The first real-time signal of the kernel: such a signal is queued as often as
 * it is sent.  SIGRTMIN of the C library is a larger number. */
#define FIRST_REALTIME 32

/* The kernel gives SI_KERNEL to a signal that is injected at a syscall-stop; or
 * dtrap has called tgkill(). */
bool
signal_is_ours(const siginfo_t *si)
{
	return si->si_code == SI_KERNEL ||
	    (si->si_code == SI_TKILL && si->si_pid == getpid());
}

/* Part of a thread: siginfos that are still to be delivered, with signals that
 * have another siginfo now. */
struct owed {
	VEC(siginfo_t) list;
};

static void
owed_end(void *part)
{
	vec_fini(&((struct owed *)part)->list);
}

static const struct part owed_part = { .size = sizeof(struct owed),
	.end = owed_end };

/* The first siginfo of that number; NULL if there is none. */
static siginfo_t *
first_owed(const struct thread *th, int sig)
{
	struct owed *owed = part_had(&th->parts, &owed_part);

	for (size_t i = 0; owed != NULL && i < owed->list.len; i++)
		if (owed->list.at[i].si_signo == sig)
			return &owed->list.at[i];
	return NULL;
}

static void
owe(struct thread *th, const siginfo_t *si)
{
	struct owed *owed = part_of(&th->parts, &owed_part);

	*vec_push(&owed->list) = *si;
}

/* Remove the first siginfo of that number and return it. */
static siginfo_t
take_owed(struct thread *th, int sig)
{
	struct owed *owed = part_of(&th->parts, &owed_part);
	siginfo_t *at = first_owed(th, sig), first = *at;

	owed->list.len--;
	memmove(at, at + 1,
	    (size_t)(&owed->list.at[owed->list.len] - at) * sizeof(first));
	return first;
}

/* Send it as it is: if dtrap dies, the kernel has its siginfo. */
static bool
send_whole(const struct thread *th, const siginfo_t *si)
{
	return syscall(SYS_rt_tgsigqueueinfo, th->proc->pid, th->tid,
		   si->si_signo, si) == 0;
}

/* A signal of this number is pending for the thread, or dtrap sends one, so that
 * the thread will stop for it.  A standard signal is queued once, but those of
 * timers are queued always.  False: it could not be sent. */
static bool
comes_again(struct thread *th, int sig)
{
	return thread_owns_pending(th, sig) ||
	    syscall(SYS_tgkill, th->proc->pid, th->tid, sig) == 0;
}

unsigned
signals_to_repeat(const struct thread *th, int sig)
{
	siginfo_t si;
	unsigned n = 0;

	if (sig < FIRST_REALTIME || first_owed(th, sig) != NULL)
		return 0;
	for (unsigned i = 0; thread_pending(th, false, i, &si); i++) {
		if (si.si_signo != sig)
			continue;
		if (!requeue_by_any(&si))
			return 0;
		n++;
	}
	return n;
}

bool
signal_repeat(struct thread *th)
{
	siginfo_t si;

	return thread_siginfo(th, &si) == 0 && si.si_code != SI_KERNEL &&
	    send_whole(th, &si);
}

void
signal_overtaken(struct thread *th)
{
	siginfo_t came;

	if (thread_siginfo(th, &came) < 0 || came.si_code == SI_KERNEL)
		return;
	bool owed = first_owed(th, came.si_signo) != NULL;
	LOG("remote", "%d: signal %d was overtaken", (int)th->tid,
	    came.si_signo);
	if (!owed && came.si_signo < FIRST_REALTIME &&
	    !thread_owns_pending(th, came.si_signo) && requeue_by_any(&came) &&
	    send_whole(th, &came))
		return;
	if (came.si_signo < FIRST_REALTIME && !comes_again(th, came.si_signo))
		return;
	/* If signals are owed already, this may be one that dtrap sent for
	 * them. */
	if (!owed || !signal_is_ours(&came))
		owe(th, &came);
}

bool
signal_take_owed(struct thread *th, int sig, siginfo_t *si)
{
	if (first_owed(th, sig) == NULL)
		return false;
	*si = take_owed(th, sig);
	return true;
}

void
signals_again(struct thread *th, const siginfo_t *si, size_t n)
{
	/* Bit sig - 1: one of these cannot be sent as it is, or must come before
	 * others that are pending. */
	uint64_t owes = 0;

	for (size_t i = 0; i < n; i++)
		if (!requeue_by_any(&si[i]) ||
		    thread_has_pending(th, si[i].si_signo) ||
		    first_owed(th, si[i].si_signo) != NULL)
			owes |= SIGBIT(si[i].si_signo);
	for (size_t i = 0; i < n; i++) {
		int sig = si[i].si_signo;
		if ((owes & SIGBIT(sig)) == 0)
			send_whole(th, &si[i]);
		else if (syscall(SYS_tgkill, th->proc->pid, th->tid, sig) == 0)
			owe(th, &si[i]);
	}
}

void
signal_in_turn(struct thread *th, int sig)
{
	siginfo_t came;

	if (first_owed(th, sig) == NULL || thread_siginfo(th, &came) < 0)
		return;
	if (!signal_is_ours(&came))
		owe(th, &came);
	siginfo_t first = take_owed(th, sig);
	thread_set_siginfo(th, &first);
	if (sig < FIRST_REALTIME && first_owed(th, sig) != NULL)
		comes_again(th, sig);
}

/* Queue the signals of this number anew, in their order.  Nothing changes if no
 * call can be made. */
static void
settle(struct thread *th, int sig)
{
	/* `later' are those that were sent after the owed ones. */
	VEC(siginfo_t) all = { 0 }, later = { 0 };
	const int was = th->stop.sig;
	const bool delivers = was == sig;
	const enum event_kind kind = th->stop.kind;
	size_t n = 0; /* pending */
	siginfo_t si;

	if (delivers && (sig < FIRST_REALTIME || thread_siginfo(th, &si) < 0))
		return;
	if (delivers) {
		*vec_push(&all) = si;
		thread_regs_moved(th);
		thread_settle(th);
		stop_becomes(th, EV_STOP);
		stop_signal(th, 0);
	}
	for (unsigned i = 0; thread_pending(th, false, i, &si); i++) {
		if (si.si_signo != sig)
			continue;
		if (!signal_is_ours(&si))
			*vec_push(&later) = si;
		n++;
	}
	if (requeue_take(th, sig, n) == 0) {
		stop_becomes(th, kind);
		stop_signal(th, was);
	} else {
		while (first_owed(th, sig) != NULL)
			*vec_push(&all) = take_owed(th, sig);
		vec_foreach(each, &later)
			*vec_push(&all) = *each;
		vec_foreach(each, &all)
			requeue_send(th, each);
		LOG("remote", "%d: %zu signals %d are queued anew",
		    (int)th->tid, all.len, sig);
	}
	vec_fini(&all);
	vec_fini(&later);
}

void
signals_settle(struct thread *th)
{
	for (int sig = 1; sig <= SIGNALS; sig++)
		if (thread_stopped(th) && first_owed(th, sig) != NULL)
			settle(th, sig);
}
