/*
 * What other rooms tell the plockstat provider.
 */
#ifndef TRACER_PROV_PLOCK_PLOCK_H
#define TRACER_PROV_PLOCK_PLOCK_H

struct space;
struct state;
struct thread;

/* A fork's child has a copy of its parent's tracepoints. */
void plock_fork(struct space *parent, struct space *child);

#endif
