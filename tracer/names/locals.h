/*
 * Variables of the source at a probe, by name: local`count.
 *
 * A program is compiled once for a description, and the description may mean
 * many places; each has the variable somewhere else.  So a name becomes a
 * number, like that of an argument, and the table of locations that each site
 * has anyway is longer where a clause asks for one.
 */
#ifndef TRACER_NAMES_LOCALS_H
#define TRACER_NAMES_LOCALS_H

#include <stdbool.h>
#include <stdint.h>

#include "dlang/argloc.h"
#include "dlang/types.h"
#include "dlang/world.h"

struct probe;
struct space;
struct state;

/* See world.h. */
int locals_find(struct state *st, const struct probe_desc *pd, const char *name,
    bool address, struct types *ts, struct world_local *out);

/*
 * The locations of a site: its arguments and, behind them, the variables that
 * clauses on its probe name; one that cannot be told there is ARGLOC_NONE.  To
 * be freed, with their number in *total; NULL: no clause names any.
 */
struct argloc *locals_table(struct state *st, const struct space *sp,
    const struct probe *p, uint64_t addr, const struct argloc *args,
    uint32_t nargs, uint32_t *total);

#endif
