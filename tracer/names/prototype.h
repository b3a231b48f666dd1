/*
 * Typed arguments of functions: what the debug information of their object says
 * of their prototype, and where the calling convention puts it.
 */
#ifndef TRACER_NAMES_PROTOTYPE_H
#define TRACER_NAMES_PROTOTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct load;
struct probe;
struct state;
struct sym;
struct typed_args;

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
