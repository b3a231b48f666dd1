/*
 * Children of the targets, and programs that they execute: they are traced with
 * the probes of their parent, or detached unchanged.
 */
#ifndef TRACER_DRIVE_FOLLOW_H
#define TRACER_DRIVE_FOLLOW_H

#include <stdbool.h>

struct proc;
struct state;
struct thread;

/*
 * A new process or thread exists; it has not run yet.  A process with a copy of
 * the memory keeps the copied tracepoints, or, if it is not followed, is
 * cleaned and detached before it runs an instruction.  A process that shares
 * the memory may execute an int3, so it stays traced until it execs or exits,
 * whether it is followed or not.  (The kernel reports such a clone() as a fork
 * if the child's signal is SIGCHLD.)  The child continues at its own first
 * stop.
 */
void follow_born(struct state *st, struct thread *parent, struct thread *child);

/* A target or a child has executed a program.  False: the caller must detach
 * from it; the user has been told if the process was to be traced. */
bool follow_executed(struct state *st, struct proc *p);

#endif
