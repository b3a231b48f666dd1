/*
 * The VM's environment in the tracer: the thread whose hit is being handled.
 * Registers are fetched once a stop; everything else only when it is asked
 * for.
 */
#ifndef TRACER_EVAL_H
#define TRACER_EVAL_H

#include <sys/types.h>

#include "dlang/vm/vm.h"

struct state;
struct thread;

extern const struct vm_ops eval_ops; /* ctx: struct state */

/* The process and thread in whose context a clause runs: the tracer's own for
 * BEGIN and the like. */
pid_t eval_pid(const struct state *st);
pid_t eval_tid(const struct state *st);

/* Set up the firing's half of st->env for a hit of th; NULL: no thread. */
void eval_begin(struct state *st, struct thread *th);

#endif
