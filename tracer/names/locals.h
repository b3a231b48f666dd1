/*
 * Local variables at a probe, by name: local`count.
 *
 * A program is compiled once for a description, which may match many sites, and
 * the variable may be in another place at each.  So a name becomes the number
 * of an additional argument, and the table of locations of a site gets another
 * entry.
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
 * Make the locations of a site: its arguments, and behind them the variables
 * that clauses on its probe use; an unknown one is ARGLOC_NONE.  Returns them,
 * with their number in *total; the caller frees them.  NULL: no clause uses a
 * variable.
 */
struct argloc *locals_table(struct state *st, const struct space *sp,
    const struct probe *p, uint64_t addr, const struct argloc *args,
    uint32_t nargs, uint32_t *total);

#endif
