/*
 * The plockstat provider's side of hits: what other files tell it.
 */
#ifndef TRACER_PROV_PLOCK_H
#define TRACER_PROV_PLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct space;
struct state;
struct thread;

/* th came by a place that the provider has asked for (tp_user, `plock'). */
void plock_hit(struct state *st, struct thread *th, uint64_t addr);

/* th came to where its thread_watch() waits. */
void plock_arrived(struct state *st, struct thread *th);

/* A fork's child has the tracepoints that its parent has. */
void plock_fork(struct space *parent, struct space *child);

void plock_space_end(struct space *sp);
void plock_thread_end(struct thread *th);

#endif
