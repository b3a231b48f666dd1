/*
 * The bodies of functions of traced processes: disasm/body.h, with what symbols
 * and unwind entries say.
 */
#ifndef TRACER_NAMES_BODIES_H
#define TRACER_NAMES_BODIES_H

#include "disasm/body.h"

struct load;
struct object;
struct state;

/* The one at [start, end) of memory, which is in l.  As body_find(); without
 * `exits' not all of them are told. */
int bodies_find(struct state *st, const struct reader *mem,
    const struct load *l, uint64_t start, uint64_t end, bool exits,
    struct body *b);

/*
 * Where no symbol covers addr (the file's own address): the function that it
 * is a part of, by the unwind entries and the code.  0 with where that begins,
 * which is where the range with addr begins if it is no piece; -ENOENT where
 * there is no entry.
 */
int bodies_owner(
    struct state *st, struct object *o, uint64_t addr, uint64_t *start);

/* Frames in pieces of functions are named after the function; NULL: no longer. */
void bodies_serve(struct state *st);

#endif
