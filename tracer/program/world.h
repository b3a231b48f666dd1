/*
 * Answers to the compiler (dlang/world.h) from the probe table, the targets
 * and their symbols.
 */
#ifndef TRACER_PROGRAM_WORLD_H
#define TRACER_PROGRAM_WORLD_H

#include "dlang/world.h"

struct probe;
struct state;

extern const struct world_ops world_ops; /* ctx: struct state */

/* Has a probe the arguments that the clause of this description was compiled
 * for?  True where the clause does not look at args[]; where it does they are
 * noted in the probe (p->typed). */
bool world_typed_alike(
    struct state *st, const struct probe_desc *pd, struct probe *p);

#endif
