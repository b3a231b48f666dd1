/*
 * SIGTRAPs that were sent to a program and are pending because it blocks the
 * signal.  dtrap's changes of SIGTRAP's action discard them or change their
 * order, so they are queued again, unchanged.
 */
#ifndef TRACER_PTRACE_TRAPQUEUE_H
#define TRACER_PTRACE_TRAPQUEUE_H

#include <signal.h>
#include <stdbool.h>

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

/* Was this SIGTRAP sent by a process?  If not, an instruction has raised it, or
 * dtrap has already handled it. */
bool trapqueue_is_sent(const siginfo_t *si);

/* Append all SIGTRAPs that are pending for a process and its threads, which
 * must be stopped.  They stay pending. */
void trapqueue_read(struct proc *p, struct trapqueue *q);

/* The SIGTRAPs in the queue are not pending any more: send them again, in the
 * same order.  Empties the queue.  False: one could not be sent by any
 * thread. */
bool trapqueue_send(struct proc *p, struct trapqueue *q);

/* Discard all pending SIGTRAPs that were sent to the process or its stopped
 * threads.  Those of int3s stay pending. */
void trapqueue_discard(struct proc *p);

/* Discard the pending SIGTRAPs of dtrap's watches on data (datawatch.h), which the
 * stopped thread blocks, so that the program never gets them. */
void trapqueue_discard_data(struct thread *th);

/* Is a SIGTRAP pending for this thread (not for its process)? */
bool trapqueue_has(struct thread *th);

/*
 * th is stopped for a SIGTRAP that was sent to it and that it blocks.  Make the
 * signal pending again, before all others of its number; the stop is then a
 * plain one, and th->regs are written to the kernel.  False: no call can be
 * made in the thread; the caller must make th->stop.sig pending.
 */
bool trapqueue_keep(struct thread *th);

#endif
