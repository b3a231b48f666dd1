/*
 * A probe fires; and what follows a firing.
 */
#ifndef TRACER_FIRE_FIRE_H
#define TRACER_FIRE_FIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "dlang/vm/store.h"
#include "tracer/fire/eval.h"

struct probe;
struct proc;
struct state;
struct thread;

/* Leave the loop: exit() was called, targets are gone, a signal came. */
void fire_drain(struct state *st);

void fire_set_activity(struct state *st, enum activity a);

/* Does option `cpu' let probes fire where th is?  NULL: the tracer itself,
 * which runs there. */
bool fire_wants_cpu(const struct state *st, struct thread *th);

/* May probes without a place in text fire in the process?  Not in a child that is
 * traced only because it shares the memory of its parent. */
bool fire_wants_proc(const struct state *st, const struct proc *p);

/* Fire a probe without a place in text, in the context of th (NULL: of the
 * tracer itself); nwords of words become arg0 and on. */
void fire_probe(struct state *st, struct probe *p, struct thread *th,
    const uint64_t *words, unsigned nwords);
/* The same, where there is more to be asked about. */
void fire_probe_for(struct state *st, struct probe *p, struct thread *th,
    const uint64_t *words, unsigned nwords, struct occasion about);

/* What every firing is followed by: exit(), a full buffer. */
void fire_after(struct state *st);

/* Read what the clauses recorded, when it is time or room is short. */
void fire_consume(struct state *st);
void fire_consume_if_full(struct state *st);

#endif
