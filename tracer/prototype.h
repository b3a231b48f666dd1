/*
 * Typed arguments of functions: what the debug information of their object says
 * of their prototype, and where the calling convention puts it.
 */
#ifndef TRACER_PROTOTYPE_H
#define TRACER_PROTOTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dlang/world.h"

struct load;
struct probe;
struct state;
struct sym;

/* The types of the arguments of a probe, as they are asked for. */
struct typed_args {
	size_t n;                     /* of them */
	const struct world_arg *args; /* borrowed until the end; native is NULL
				       * and why is set where it cannot be had */
	const char *why;              /* there are none: a sentence or NULL */
};

struct prototypes;

void prototypes_destroy(struct prototypes *all);

/*
 * The arguments of the function at addr (in memory) of an object, called
 * `name': at its entry, or at its return, where args[0] is the offset of the
 * instruction and args[1] the result.  Read at the first call.
 */
void prototype_args(struct state *st, const struct load *l, uint64_t addr,
    const char *name, bool result, struct typed_args *out);

/* Are they the same, down to where the members are of what they point to? */
bool typed_args_equal(const struct typed_args *a, const struct typed_args *b);

/* Say that a probe, or a place of it, appeared after the program was compiled
 * for others. */
void prototype_refused(struct state *st, const struct probe *p);

#endif
