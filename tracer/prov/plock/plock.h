/*
 * The plockstat provider's side of hits: what other files tell it.
 */
#ifndef TRACER_PROV_PLOCK_PLOCK_H
#define TRACER_PROV_PLOCK_PLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct space;
struct state;
struct thread;

/* A fork's child has the tracepoints that its parent has. */
void plock_fork(struct space *parent, struct space *child);

#endif
