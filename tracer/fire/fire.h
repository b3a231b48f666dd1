/*
 * Firing a probe without a site in text, and the work after any firing.
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

/* Make the loop end: exit() was called, targets are gone, or a signal came. */
void fire_drain(struct state *st);

void fire_set_activity(struct state *st, enum activity a);

/* Does option `cpu' allow probes to fire on th's processor?  NULL: on the
 * tracer's. */
bool fire_wants_cpu(const struct state *st, struct thread *th);

/* May probes without a site in text fire in the process?  Not in a vfork child
 * that is traced only because it shares its parent's memory. */
bool fire_wants_proc(const struct state *st, const struct proc *p);

/* Fire a probe without a site in text, in the context of th (NULL: of the
 * tracer itself).  The nwords words become arg0, arg1 and so on. */
void fire_probe(struct state *st, struct probe *p, struct thread *th,
    const uint64_t *words, unsigned nwords);
/* The same for an event of th itself (a system call, a signal, its end): nothing
 * fires if fire_wants_proc() is false, and it counts as a hit of th. */
void fire_event(struct state *st, struct probe *p, struct thread *th,
    const uint64_t *words, unsigned nwords, struct occasion about);

/* The same for what was recorded of th while it was not stopped (records.h). */
void fire_seen(struct state *st, struct probe *p, struct thread *th,
    const uint64_t *words, unsigned nwords, const struct perf_record *seen);

/* Call it after every firing: handles exit() and a full buffer. */
void fire_after(struct state *st);

/* Let the consumer read the records. */
void fire_consume(struct state *st);

#endif
