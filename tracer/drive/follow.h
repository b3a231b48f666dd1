/*
 * Children of the targets, and what they execute: kept under the tracer with
 * their parent's probes, or let go untouched.
 */
#ifndef TRACER_DRIVE_FOLLOW_H
#define TRACER_DRIVE_FOLLOW_H

#include <stdbool.h>

struct proc;
struct state;
struct thread;

/*
 * A new process or thread exists.  One in a copy of the memory keeps its copies
 * of the tracepoints, or is cleaned and let go before it runs an instruction.
 * One that shares the memory (the kernel calls clone() a fork when the child's
 * signal is SIGCHLD) may meet our int3: it stays traced until it execs or
 * exits, whether it is followed or not.  Its own first stop lets it run.
 */
void follow_born(struct state *st, struct thread *parent, struct thread *child);

/* A target or a child has executed a program.  False: it is to be let go, after
 * a notice if it is one that is wanted. */
bool follow_executed(struct state *st, struct proc *p);

#endif
