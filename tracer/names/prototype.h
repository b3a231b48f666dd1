/*
 * Typed arguments of functions: types from the debug information of their
 * object, places from the calling convention.
 */
#ifndef TRACER_NAMES_PROTOTYPE_H
#define TRACER_NAMES_PROTOTYPE_H

#include <stdbool.h>
#include <stdint.h>

struct load;
struct probe;
struct state;
struct sym;
struct typed_args;

/*
 * The arguments of the function `name' at addr (in memory): those at its entry,
 * or with `result' those at its return, where args[0] is the offset of the
 * instruction and args[1] the result.  Read at the first call.
 */
void prototype_args(struct state *st, const struct load *l, uint64_t addr,
    const char *name, bool result, struct typed_args *out);

/* Are they equal, including the layout of the objects they point to? */
bool typed_args_equal(const struct typed_args *a, const struct typed_args *b);

/* Print that a probe, or a place of it, appeared after the program was
 * compiled, with other types, and so is not enabled. */
void prototype_refused(struct state *st, const struct probe *p);

#endif
