/*
 * The VM's environment in the tracer: the thread whose hit is being handled.
 * Registers are fetched once a stop; everything else only when it is asked
 * for.
 */
#ifndef TRACER_EVAL_H
#define TRACER_EVAL_H

#include "dlang/vm/vm.h"

struct state;
struct thread;

extern const struct vm_ops eval_ops; /* ctx: struct state */

/* Set up the firing's half of st->env for a hit of th; NULL: no thread. */
void eval_begin(struct state *st, struct thread *th);

#endif
