/*
 * Watches how a program changes the action of SIGTRAP and its signal mask, with
 * markers: tracepoints on the `syscall' instructions of its libraries that make
 * these calls.  The result goes to sigtrap.c, which restores action and mask
 * after a hit.
 */
#ifndef TRACER_SITES_SIGWATCH_H
#define TRACER_SITES_SIGWATCH_H

#include <stdint.h>

struct space;
struct state;
struct thread;
struct uregs;

/* Before the first probe in a space: queue a marker on every such instruction.
 * Threads may run. */
void sigwatch_look(struct state *st, struct space *sp);

/* Just before the first commit: read the present actions and masks.  All
 * threads must be stopped; the caller commits. */
void sigwatch_begin(struct state *st, struct space *sp);

/* New objects were mapped: queue markers in them. */
void sigwatch_loads(struct state *st, struct space *sp);

/* A fork's child has copies of its parent's markers; its loads are in the same
 * order. */
void sigwatch_fork(struct space *parent, struct space *child);

/* Free the data of the space.  The caller frees the table of tracepoints. */
void sigwatch_end(struct space *sp);

/* Called now and then at a hit: is dtrap's handler for SIGTRAP still installed?
 * If not, an action was set that no marker has seen; it is installed again. */
void sigwatch_check(struct thread *th);

/* th->stop.sig is about to be delivered.  If the return of its handler must be
 * seen, let the thread stop at system calls. */
void sigwatch_delivered(struct thread *th);

/* The thread is at the entry of a system call.  If it is the return of a signal
 * handler, the mask becomes that of the signal frame. */
void sigwatch_enter(struct thread *th);

#endif
