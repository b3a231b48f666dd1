/*
 * SIGTRAPs that somebody has sent to a program, and that are pending because it
 * blocks the signal.  What we do to SIGTRAP throws them away or changes their
 * order: they are queued again, as they were.
 */
#ifndef TRACER_PTRACE_TRAPQUEUE_H
#define TRACER_PTRACE_TRAPQUEUE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "dlang/base/vec.h"

struct proc;
struct thread;

struct trap_pending {
	siginfo_t si;
	struct thread *th; /* NULL: for the process */
};

struct trapqueue {
	VEC(struct trap_pending) list;
};

/* Has somebody sent this SIGTRAP?  Else an instruction has raised it, or it is
 * one that we had dealt with. */
bool trapqueue_is_sent(const siginfo_t *si);

/* All that are pending for a process and its threads, which are stopped, are
 * appended.  They stay where they are. */
void trapqueue_read(struct proc *p, struct trapqueue *q);

/* None of them is pending any more: they are again, in the same order.  Empties
 * the queue.  False: there was one that no thread could send. */
bool trapqueue_send(struct proc *p, struct trapqueue *q);

/* All that somebody has sent to the process or its threads, which are stopped, and
 * that are pending, are thrown away; those of int3s are not. */
void trapqueue_discard(struct proc *p);

/* Is one pending for this very thread? */
bool trapqueue_has(struct thread *th);

/*
 * th is stopped for a SIGTRAP that was sent to it, which it blocks: the stop is
 * a plain one from now on, and the signal pending, before all others of its
 * number.  The registers that th->regs has are the kernel's then.  False: no call
 * can be made in the thread; what is in th->stop.sig is to become pending.
 */
bool trapqueue_keep(struct thread *th);

#endif
