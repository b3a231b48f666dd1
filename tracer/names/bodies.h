/*
 * The bodies of functions in traced processes: disasm/body.h, with facts from
 * symbols and unwind entries.
 */
#ifndef TRACER_NAMES_BODIES_H
#define TRACER_NAMES_BODIES_H

#include "disasm/body.h"

struct load;
struct object;
struct state;

/* Find the body of the function at [start, end) in memory, which is in load l.
 * As body_find(); without `exits' the list of exits is incomplete. */
int bodies_find(struct state *st, const struct reader *mem,
    const struct load *l, uint64_t start, uint64_t end, bool exits,
    struct body *b);

/*
 * For a file address that no symbol covers: find the function to which it
 * belongs, by unwind entries and code. 0 with the begin of the function, a file
 * address, in *start; if the unwind entry of addr is not a piece, that is the
 * begin of the entry. -ENOENT: there is no unwind entry.
 */
int bodies_owner(
    struct state *st, struct object *o, uint64_t addr, uint64_t *start);

/*
 * May anything but the instruction before it lead to an address behind `from' and
 * before `to'?  Jumps and calls of all code of the object are such things, and
 * symbols, unwind entries, landing pads, and addresses in instructions and data.
 * Jump tables are not: body->leads has those of a function.  The addresses are
 * the file's.  The first call for an object reads all of its code.
 */
bool bodies_lead_between(
    struct state *st, struct object *o, uint64_t from, uint64_t to);

/* Let symbolise.c name code in a piece after its function.  NULL: stop that. */
void bodies_serve(struct state *st);

#endif
