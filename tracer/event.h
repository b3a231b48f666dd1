/*
 * What happened to a tracee: one wait status, classified.
 *
 * event.c turns statuses into events and changes no tracee; the loop acts on
 * them.  event_poll() drains every status that is pending before it hands out
 * the first, so that one busy thread cannot starve the rest.
 *
 * The comment behind each kind says what must be done with the thread.
 */
#ifndef TRACER_EVENT_H
#define TRACER_EVENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct super;
struct thread;

enum event_kind {
	EV_NONE,
	EV_TRAP,	  /* SIGTRAP of an int3 (SI_KERNEL): pc is one past it.
			   * Ours: fire and resume.  Not ours: as EV_SIGNAL */
	EV_SIGNAL,	  /* signal-delivery-stop: resume delivers `sig' */
	EV_GROUP_STOP,	  /* stopped by SIGSTOP and friends: resume listens
			   * (PTRACE_LISTEN), it does not start the thread */
	EV_STOP,	  /* the stop that our PTRACE_INTERRUPT asked for, or a
			   * new thread's first stop: resume */
	EV_SYSCALL_ENTER, /* resume */
	EV_SYSCALL_EXIT,  /* resume */
	EV_SECCOMP,	  /* resume */
	EV_FORK,	  /* `child' is a new process with a copy of the memory;
			   * its thread exists and is stopped or about to */
	EV_VFORK,	  /* `child' shares the memory until it execs or exits */
	EV_VFORK_DONE,	  /* resume */
	EV_CLONE,	  /* `child' is a new thread, or a process that shares
			   * the memory */
	EV_EXEC,	  /* new program; `tid' is now the leader's and other
			   * threads are gone (old_tid: who called) */
	EV_EXIT,	  /* PTRACE_EVENT_EXIT: memory can still be read;
			   * `status' as wait(2) will say; resume */
	EV_GONE,	  /* the thread has ended and is reaped: `status'.  The
			   * process ended when it was its last thread */
};

struct event {
	enum event_kind kind;
	struct thread *thread; /* NULL only for EV_NONE */
	int sig;	       /* EV_SIGNAL, EV_GROUP_STOP, EV_TRAP (SIGTRAP) */
	int status;	       /* EV_EXIT, EV_GONE: wait status */
	struct thread *child;  /* EV_FORK, EV_VFORK, EV_CLONE */
	pid_t old_tid;	       /* EV_EXEC */
};

/*
 * The next event: 1 with *ev filled, 0 when nothing is pending.  With `block'
 * waits for one, or until a signal handler of ours ran: then -EINTR.  -ECHILD
 * when there are no tracees left.  Statuses of processes that are no tracees
 * (children of ours that are plain, as of system()) are left alone.
 *
 * On return the thread's state, stop kind and process membership are already
 * up to date: new threads exist, EV_EXEC has dropped the other threads and
 * given the process a new space, EV_GONE's thread is unlinked (freed at the
 * next call).
 */
int event_poll(struct super *su, struct event *ev, bool block);

/*
 * Ask signal handlers to make a blocking event_poll() return -EINTR even when
 * they run just before the system call blocks.  To be called from the handler
 * with its third argument (ucontext); see x86_64/wait.c.
 */
void event_interrupt(void *ucontext);

#endif
