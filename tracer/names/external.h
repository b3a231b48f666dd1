/*
 * External names in D programs: variables, functions and types of the targets.
 *
 * A program is compiled once and runs for every traced process, and each
 * process may have mapped an object at another address.  So a symbol becomes a
 * reference (object, file address), and its address in memory is computed at
 * the hit, for the process that hit.  A process that does not map the same file
 * does not have the variable, even if another of its files has one of that
 * name, because the types may differ.
 */
#ifndef TRACER_NAMES_EXTERNAL_H
#define TRACER_NAMES_EXTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "dlang/types.h"
#include "dlang/world.h"

struct dwarf_proto;
struct dwtypes;
struct object;
struct space;
struct state;

/* The reader of types from debug information for this session. */
struct dwtypes *external_types(struct state *st, struct types *ts);

/* Search the objects that the targets map now, in the order of mapping, the
 * executable first.  `object' is as in a probe description.  Results are as in
 * dlang/world.h. */
int external_symbol(struct state *st, const char *object, const char *name,
    struct types *ts, struct world_symbol *out);
int external_type(struct state *st, const char *object, const char *name,
    struct types *ts, struct type **out);

/* Does the object have debug information with types? */
bool external_present(struct object *o);

/* The prototype of the function `name' at addr (a file address).  0, or -ENOENT
 * if it is unknown. */
int external_proto(struct state *st, struct object *o, uint64_t addr,
    const char *name, struct dwarf_proto *out);

/* The address in a process of a world_symbol's `ref'.  0, or -ENOENT if the
 * process does not map the object. */
int external_addr(const struct state *st, const struct space *sp, uint64_t ref,
    uint64_t *addr);

#endif
