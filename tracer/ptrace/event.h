/*
 * What happened to a tracee: one wait status, classified.
 *
 * event.c turns statuses into events and changes no tracee; the loop acts on
 * them.  Every few events event_poll() takes in all that is pending before it
 * hands out the next, so that one busy thread cannot starve the rest, and one
 * event in the common case costs one system call.
 *
 * The comment behind each kind says what must be done with the thread.
 */
#ifndef TRACER_PTRACE_EVENT_H
#define TRACER_PTRACE_EVENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct super;
struct thread;

#undef EV_NONE /* <elf.h> has one too: an ELF version, 0 as ours */

enum event_kind {
	EV_NONE,
	EV_TRAP,          /* SIGTRAP is to be delivered.  Asking why would cost
			   * a system call a hit, so look at pc - 1: if an int3
			   * of ours stands there, or stood there lately, fire,
			   * back up and resume (with no signal).  Not ours:
			   * stop_signal(th, SIGTRAP), and go on as EV_SIGNAL */
	EV_SIGNAL,        /* signal-delivery-stop: resume delivers `sig' */
	EV_GROUP_STOP,    /* stopped by SIGSTOP and friends: resume listens
			   * (PTRACE_LISTEN), it does not start the thread */
	EV_STOP,          /* a new thread's first stop, after the event that
			   * names it as `child': resume.  (The stops that our
			   * PTRACE_INTERRUPT asks for are not handed out) */
	EV_SYSCALL_ENTER, /* resume */
	EV_SYSCALL_EXIT,  /* resume */
	EV_SECCOMP,       /* resume */
	EV_FORK,          /* `child' is a new process with a copy of the memory;
			   * its thread exists and is stopped or about to */
	EV_VFORK,      /* `child' shares the memory until it execs or exits */
	EV_VFORK_DONE, /* resume */
	EV_CLONE,      /* `child' is a new thread, or a process that shares
			   * the memory */
	EV_EXEC,       /* new program; the thread is now the leader, other
			   * threads are gone, each with its EV_GONE before
			   * (old_tid: who called) */
	EV_EXIT,       /* PTRACE_EVENT_EXIT: memory can still be read;
			   * `status' as wait(2) will say; resume */
	EV_GONE,       /* the thread has ended and is reaped: `status'.  The
			   * process ended when it was its last thread
			   * (thread->proc->threads is empty) */
};

struct event {
	enum event_kind kind;
	struct thread *thread; /* NULL only for EV_NONE */
	int sig;               /* EV_SIGNAL, EV_GROUP_STOP, EV_TRAP (SIGTRAP) */
	int status;            /* EV_EXIT, EV_GONE: wait status */
	struct thread *child;  /* EV_FORK, EV_VFORK, EV_CLONE; NULL if it has
				* been detached meanwhile */
	pid_t old_tid;         /* EV_EXEC */
	bool first;            /* EV_STOP: of a new thread */
};

/*
 * The next event: 1 with *ev filled, 0 when nothing is pending.  With `block'
 * waits for one, or until a signal handler of ours ran: then -EINTR.  -ECHILD
 * when there are no tracees left.
 *
 * On return the thread's state, stop kind and process membership are already
 * up to date: new threads exist, EV_EXEC has dropped the other threads and
 * given the process a new space, EV_GONE's thread is unlinked (freed at the
 * next call).
 */
int event_poll(struct super *su, struct event *ev, bool block);

/* How often it has waited so far. */
unsigned event_waits(const struct super *su);

/*
 * For signal handlers (SA_SIGINFO; the third argument): the next event_poll()
 * that would block returns -EINTR, also the one that is just about to.  Once
 * for any number of calls.
 */
void event_interrupt(void *ucontext);

/*
 * A child of the tracer's own that is no tracee (of fork, popen) ends: its
 * status is met by event_poll(), as the kernel cannot be asked for tracees
 * only.  1 with *status if it has ended and was seen, which is forgotten then;
 * 0 if not: then waitpid(pid) is still to be asked.
 */
int event_plain_child(struct super *su, pid_t pid, int *status);

/* Wait for the end of such a child: its wait status, or -1 (as an int that is
 * no status) when there is no such child. */
int event_await_plain(struct super *su, pid_t pid);

#endif
