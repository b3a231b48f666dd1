/*
 * Which types of args[] each clause was compiled for: probes that match later must
 * have the same.
 */
#ifndef TRACER_PROGRAM_TYPED_USE_H
#define TRACER_PROGRAM_TYPED_USE_H

#include <stdbool.h>

struct probe;
struct probe_desc;
struct state;
struct typed_args;

/* The clause of this description looks at args[], and was compiled for these. */
void typed_use_note(struct state *st, const struct probe_desc *pd,
    const struct typed_args *args);

/* Has a probe the arguments that the clause of this description was compiled
 * for?  True where the clause does not look at args[]; where it does they are
 * noted in the probe (p->typed). */
bool typed_use_fits(
    struct state *st, const struct probe_desc *pd, struct probe *p);

#endif
