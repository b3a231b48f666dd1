/*
 * Typed arguments and results of functions of Go, for prototype.c.
 */
#ifndef TRACER_NAMES_PROTOTYPE_GO_H
#define TRACER_NAMES_PROTOTYPE_GO_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct load;
struct state;
struct typed_args;

/* Is the function at addr (the file's own) one of Go's own compiler?  If so,
 * its arguments and results, or why there are none. */
bool prototype_go(struct state *st, struct arena *arena, const struct load *l,
    uint64_t addr, const char *name, struct typed_args *entry,
    struct typed_args *result);

#endif
