/*
 * External names of D programs: variables, functions and types of the targets.
 *
 * A program is compiled once and runs in every process that is traced, and
 * each of these may have an object somewhere else.  So a symbol becomes a
 * reference, (object, address in its file), and the address in memory is found
 * at the hit, in the process that is hit.  A process that does not map that
 * very file has no such variable, even if another file of it has one of that
 * name: the types may differ.
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

/* Who makes types of debug information for this session. */
struct dwtypes *external_types(struct state *st, struct types *ts);

/* Of the objects that the targets map now, in the order in which they are
 * mapped, the executable first.  `object' as in a probe description.  See
 * world.h for what is returned. */
int external_symbol(struct state *st, const char *object, const char *name,
    struct types *ts, struct world_symbol *out);
int external_type(struct state *st, const char *object, const char *name,
    struct types *ts, struct type **out);

/* Has the object debug information with types? */
bool external_present(struct object *o);

/* The prototype of the function whose code is at addr (the file's own) and
 * that is called `name'.  0, or -ENOENT when nothing is known of it. */
int external_proto(struct state *st, struct object *o, uint64_t addr,
    const char *name, struct dwarf_proto *out);

/* The address of a world_symbol's `ref' in a process.  0, or -ENOENT when it
 * does not map the object. */
int external_addr(const struct state *st, const struct space *sp, uint64_t ref,
    uint64_t *addr);

#endif
