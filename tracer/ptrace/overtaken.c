/*
 * Signals of one number that are pending for a thread while another of them is
 * in delivery, and a system call is made in the thread meanwhile.
 *
 * Afterwards the one in delivery is injected again.  The kernel takes the first
 * that is pending, and puts ours behind the last:
 *
 *	in delivery  D    pending  X1 X2     before
 *	             X1            X2 K      K: ours
 *
 * Where X1 and X2 may be sent by anybody as they are, they are: each is taken,
 * and queued again behind K, which is then given D's siginfo.
 *
 * Else X1 is given D's siginfo, X2 that of X1, and K that of X2: `owed' has
 * what is still to come, in order, and loses it when the thread is let go.  Of a
 * number that is queued once there is no K when X1 is pending: it is sent once
 * more, by us.
 */
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "dlang/base/log.h"
#include "tracer/ptrace/super.h"

/* The kernel's first that is queued as often as it is sent (SIGRTMIN of the C
 * library is another). */
#define FIRST_REALTIME 32

/* One that nobody sent but us: what the kernel makes of an injected signal at a
 * syscall-stop, and our own tgkill(). */
static bool
is_ours(const siginfo_t *si)
{
	return si->si_code == SI_KERNEL ||
	    (si->si_code == SI_TKILL && si->si_pid == getpid());
}

/* Of a thread: signals that are still to be delivered, in the place of others. */
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

/* The first of that number; NULL if there is none. */
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

/* The first of that number, which is owed no longer. */
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
		/* rt_sigqueueinfo(2): nobody says that the kernel sent it, or
		 * another by kill(). */
		if (si.si_code >= 0 || si.si_code == SI_TKILL)
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
	    syscall(SYS_rt_tgsigqueueinfo, th->proc->pid, th->tid, si.si_signo,
		&si) == 0;
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
	if (came.si_signo < FIRST_REALTIME &&
	    syscall(SYS_tgkill, th->proc->pid, th->tid, came.si_signo) != 0)
		return;
	/* It may be the one that we sent the last time. */
	if (!owed || !is_ours(&came))
		owe(th, &came);
}

void
signal_again(struct thread *th, const siginfo_t *si)
{
	if (syscall(SYS_tgkill, th->proc->pid, th->tid, si->si_signo) == 0)
		owe(th, si);
}

void
signal_in_turn(struct thread *th, int sig)
{
	siginfo_t came;

	if (first_owed(th, sig) == NULL || thread_siginfo(th, &came) < 0)
		return;
	if (!is_ours(&came))
		owe(th, &came);
	siginfo_t first = take_owed(th, sig);
	thread_set_siginfo(th, &first);
}
