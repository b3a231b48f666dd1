/*
 * Events of tracees: a wait status, classified.
 *
 * event.c turns statuses into events and does not change tracees; the loop
 * (tracer/drive/loop.c) handles them.  Every few events event_poll() collects
 * all pending statuses before it returns the next event, so that one busy
 * thread cannot starve the others, and an event usually costs one system call.
 *
 * The comment behind each kind says what the loop must do with the thread.
 */
#ifndef TRACER_PTRACE_EVENT_H
#define TRACER_PTRACE_EVENT_H

#include <stdbool.h>
#include <sys/types.h>

struct super;
struct thread;

#undef EV_NONE /* <elf.h> has one too: an ELF version, 0 as ours */

enum event_kind {
	EV_NONE,
	EV_TRAP,       /* signal-delivery-stop with SIGTRAP.  Asking the
			   * kernel for the reason would cost a system call at
			   * each hit, so look at pc - 1: if an int3 of dtrap is
			   * there, or was until recently, fire, set the pc back
			   * and resume without a signal.  Otherwise
			   * stop_signal(th, SIGTRAP), and handle it as
			   * EV_SIGNAL */
	EV_SIGNAL,     /* signal-delivery-stop: resume delivers `sig' */
	EV_GROUP_STOP, /* stopped by SIGSTOP or another stop signal: resume (it
			* uses PTRACE_LISTEN, so the thread stays stopped) */
	EV_STOP,       /* first stop of a new thread, after the event that
			   * has it as `child': resume.  (Stops by dtrap's
			   * PTRACE_INTERRUPT are not returned as events) */
	EV_SYSCALL_ENTER, /* resume */
	EV_SYSCALL_EXIT,  /* resume */
	EV_SECCOMP,       /* resume */
	EV_FORK,          /* `child' is a new process with a copy of the memory;
			   * its thread exists and is stopped or will stop */
	EV_VFORK,      /* `child' shares the memory until it execs or exits */
	EV_VFORK_DONE, /* resume */
	EV_CLONE,      /* `child' is a new thread, or a process that shares
			   * the memory */
	EV_EXEC,       /* new program; the thread is now the leader, and every
			* other thread had its EV_GONE before */
	EV_EXIT,       /* PTRACE_EVENT_EXIT: memory can still be read; `status'
			   * is the later wait status; resume */
	EV_GONE,       /* the thread has ended and is reaped; `status' is its
			* wait status.  If thread->proc->threads is empty, the
			* process has ended */
};

struct event {
	enum event_kind kind;
	struct thread *thread; /* NULL only for EV_NONE */
	int sig;               /* EV_SIGNAL, EV_GROUP_STOP, EV_TRAP (SIGTRAP) */
	int status;            /* EV_EXIT, EV_GONE: wait status */
	struct thread *child;  /* EV_FORK, EV_VFORK, EV_CLONE; NULL if it was
			       * detached meanwhile */
	bool first; /* EV_STOP: it is the first stop of a new thread */
};

/*
 * Get the next event.  1 with *ev set; 0: none is pending.  With `block' it
 * waits for one; -EINTR: a signal handler of the tracer ran meanwhile.
 * -ECHILD: there are no tracees.
 *
 * On return the tables are up to date: new threads exist; EV_EXEC has removed
 * the other threads and given the process a new space; the thread of EV_GONE is
 * unlinked, and freed at the next call.
 */
int event_poll(struct super *su, struct event *ev, bool block);

/* How often event_poll() has waited so far. */
unsigned event_waits(const struct super *su);

/*
 * For signal handlers (SA_SIGINFO; pass the third argument): the next
 * event_poll() that would block returns -EINTR, also one that is just about to
 * block.  Several calls before that count once.
 */
void event_interrupt(void *ucontext);

/*
 * For a child of the tracer that is not a tracee (from fork or popen).
 * event_poll() may receive its status, because the kernel cannot be asked for
 * tracees only.  1 with *status if event_poll() has seen its end (it is
 * forgotten then); 0 if not: then call waitpid(pid).
 */
int event_plain_child(struct super *su, pid_t pid, int *status);

/* Wait for the end of such a child.  Returns its wait status, or -1 if there is
 * no such child. */
int event_await_plain(struct super *su, pid_t pid);

#endif
