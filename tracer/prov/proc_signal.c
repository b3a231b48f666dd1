/*
 * The proc provider's probes about signals.
 *
 * If the sender is traced, sending is seen there, when the system call has
 * succeeded.  A signal from another process or from the kernel (a child's end,
 * a fault, a timer) is first seen when it is about to be delivered.  Then
 * signal-send fires in the context of the receiving thread.  In either case it
 * fires once for a signal.  Not seen are a SIGKILL from outside, and a signal
 * from outside that is taken by sigwait().
 *
 * The kernel also reports signals that the program ignores to a tracer.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>

#include "tracer/fire/moments.h"
#include "tracer/ptrace/proc.h"
#include "tracer/ptrace/procfs.h"
#include "tracer/prov/proc.h"
#include "tracer/fire/fire.h"
#include "tracer/base/state.h"
#include "tracer/fire/syscalls.h"

/* Fire p for the signal that is about to be delivered. */
static void
fire_signal(struct state *st, struct probe *p, struct thread *th,
    const siginfo_t *si, const uint64_t *words, unsigned nwords)
{
	fire_event(
	    st, p, th, words, nwords, (struct occasion){ .siginfo = si });
}

/* ---- fault ---- */

static bool
is_fault(int sig, const siginfo_t *si)
{
	return si->si_code > 0 &&
	    (sig == SIGSEGV || sig == SIGBUS || sig == SIGILL ||
		sig == SIGFPE || sig == SIGTRAP);
}

void
proc_on_fault(struct state *st, const struct event *ev, void *arg)
{
	const uint64_t words[2] = { (uint64_t)ev->sig, 1 };
	siginfo_t si;

	if (thread_siginfo(ev->thread, &si) == 0 && is_fault(ev->sig, &si))
		fire_signal(st, arg, ev->thread, &si, words, 2);
}

/* ---- signal-send ---- */

static void
fire_send(
    struct state *st, struct probe *p, struct thread *th, pid_t target, int sig)
{
	const uint64_t words[2] = { (uint64_t)target, (uint64_t)sig };

	proc_fire(st, p, th, words, 2);
}

/* Fire for every process of a group; 0 means the sender's group. */
static void
send_group(
    struct state *st, struct probe *p, struct thread *th, pid_t group, int sig)
{
	struct pids all = { 0 };
	uint64_t of;

	if (group == 0 && procfs_stat(th->tid, 5, &of) == 0)
		group = (pid_t)of;
	procfs_pids(&all);
	vec_foreach(pid, &all.list)
		if (procfs_stat(*pid, 5, &of) == 0 && (pid_t)of == group)
			fire_send(st, p, th, *pid, sig);
	vec_fini(&all.list);
}

/* The process of a pidfd; 0 if it is none. */
static pid_t
pidfd_process(const struct thread *th, uint64_t fd)
{
	char name[32], text[512];

	snprintf(name, sizeof(name), "fdinfo/%d", (int)fd);
	procfs_text(th->tid, name, text, sizeof(text));
	const char *p = strstr(text, "\nPid:");
	return p != NULL ? (pid_t)strtol(p + strlen("\nPid:"), NULL, 10) : 0;
}

/* For each system call: which arguments are the target and the signal. */
static const struct sender {
	uint16_t nr;
	uint8_t target, sig;
} senders[] = {
	{ SYS_kill, 0, 1 },
	{ SYS_tkill, 0, 1 },
	{ SYS_tgkill, 1, 2 },
	{ SYS_rt_sigqueueinfo, 0, 1 },
	{ SYS_rt_tgsigqueueinfo, 1, 2 },
	{ SYS_pidfd_send_signal, 0, 1 },
};

static const struct sender *
sender_of(int nr)
{
	for (size_t i = 0; i < ARRAY_SIZE(senders); i++)
		if (senders[i].nr == nr)
			return &senders[i];
	return NULL;
}

static void
sent(struct state *st, struct probe *p, struct thread *th, unsigned nr,
    const uint64_t args[6])
{
	const struct sender *s = sender_of((int)nr);
	pid_t target = (pid_t)args[s->target];
	int sig = (int)args[s->sig];

	if (nr == SYS_pidfd_send_signal)
		target = pidfd_process(th, args[s->target]);
	if (sig == 0 || target == -1)
		return; /* no process; or all processes, which is not followed */
	if (target > 0)
		fire_send(st, p, th, target, sig);
	else if (nr == SYS_kill)
		send_group(st, p, th, -target, sig);
}

static void
on_sent(struct state *st, const struct syscall_hit *hit, void *arg)
{
	if (hit->result == 0)
		sent(st, arg, hit->thread, hit->nr, hit->args);
}

/* A process that kills itself does not return from the system call. */
static void
on_suicide(struct state *st, const struct event *ev, void *arg)
{
	struct thread *th = ev->thread;
	const struct syscall_call *c = &th->call;
	const struct sender *s = call_is_known(c) ? sender_of(c->nr) : NULL;

	if (s == NULL || (int)c->args[s->sig] != SIGKILL)
		return;
	pid_t target = (pid_t)c->args[s->target];
	if (target == th->proc->pid || target == th->tid || target == 0)
		sent(st, arg, th, s->nr, c->args);
}

/* Was the signal seen when it was sent?  Its sender may have ended since. */
static bool
is_known(struct state *st, const siginfo_t *si)
{
	return (si->si_code == SI_USER || si->si_code == SI_QUEUE ||
		   si->si_code == SI_TKILL) &&
	    super_knew(st->super, si->si_pid);
}

static void
on_arrival(struct state *st, const struct event *ev, void *arg)
{
	siginfo_t si;

	if (thread_siginfo(ev->thread, &si) == 0 && !is_known(st, &si))
		fire_send(st, arg, ev->thread, ev->thread->tid, ev->sig);
}

void
proc_enable_send(struct state *st, struct probe *p)
{
	for (size_t i = 0; i < ARRAY_SIZE(senders); i++)
		syscalls_subscribe(
		    st, senders[i].nr, SYSCALL_RETURN, on_sent, p);
	moments_subscribe(st, EV_EXIT, on_suicide, p);
	moments_subscribe(st, EV_SIGNAL, on_arrival, p);
}

/* ---- signal-discard, signal-handle ---- */

static bool
has(uint64_t set, int sig)
{
	return (set & SIGBIT(sig)) != 0;
}

static bool
is_ignored(const struct proc_status *s, int sig)
{
	if (has(s->sig_ignored, sig))
		return true;
	return !has(s->sig_caught, sig) &&
	    (sig == SIGCHLD || sig == SIGURG || sig == SIGWINCH ||
		sig == SIGCONT);
}

void
proc_on_discard(struct state *st, const struct event *ev, void *arg)
{
	struct proc_status s;

	if (procfs_status(ev->thread->tid, &s) == 0 && is_ignored(&s, ev->sig))
		fire_send(st, arg, ev->thread, ev->thread->tid, ev->sig);
}

/*
 * A handler runs, or the default action ends or stops the process.  The third
 * argument, the handler's address, is not known: to read it, dtrap would have
 * to make a system call in the thread.
 */
void
proc_on_handle(struct state *st, const struct event *ev, void *arg)
{
	const uint64_t words[3] = { (uint64_t)ev->sig, 1, 0 };
	struct proc_status s;
	siginfo_t si;

	if (procfs_status(ev->thread->tid, &s) == 0 &&
	    !is_ignored(&s, ev->sig) && thread_siginfo(ev->thread, &si) == 0)
		fire_signal(st, arg, ev->thread, &si, words, 3);
}

/* ---- signal-clear ---- */

static void
on_taken(struct state *st, const struct syscall_hit *hit, void *arg)
{
	uint64_t sig = (uint64_t)hit->result;

	if (hit->result > 0)
		proc_fire(st, arg, hit->thread, &sig, 1);
}

/* A read() of a signalfd: one record for each signal. */
static void
on_read(struct state *st, const struct syscall_hit *hit, void *arg)
{
	const int64_t size = sizeof(struct signalfd_siginfo);
	char name[32], to[64];
	uint32_t signo;

	/* Few other reads return a multiple of this size. */
	if (hit->result <= 0 || hit->result % size != 0)
		return;
	snprintf(name, sizeof(name), "fd/%d", (int)hit->args[0]);
	procfs_link(hit->thread->tid, name, to, sizeof(to));
	if (strcmp(to, "anon_inode:[signalfd]") != 0)
		return;
	for (int64_t at = 0; at < hit->result; at += size) {
		uint64_t addr = hit->args[1] + (uint64_t)at +
		    offsetof(struct signalfd_siginfo, ssi_signo);
		if (reader_read(&hit->thread->proc->space->mem, addr, &signo,
			sizeof(signo)) != 0)
			return;
		uint64_t sig = signo;
		proc_fire(st, arg, hit->thread, &sig, 1);
	}
}

void
proc_enable_clear(struct state *st, struct probe *p)
{
	syscalls_subscribe(
	    st, SYS_rt_sigtimedwait, SYSCALL_RETURN, on_taken, p);
	syscalls_subscribe(st, SYS_read, SYSCALL_RETURN, on_read, p);
}
