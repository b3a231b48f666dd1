/*
 * Windows that were found, by object: processes that have mapped the same file, as
 * those that a shell executes one after the other, have the same windows.
 */
#ifndef TRACER_SITES_WINDOWS_H
#define TRACER_SITES_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "disasm/window.h"

struct load;
struct space;
struct state;

/* Was the place at addr, in l, looked at before, in any process?  Then *why is NULL
 * and *w its window, with the instructions that this process has; or *why is the
 * reason why there is none. */
bool windows_known(struct state *st, struct space *sp, const struct load *l,
    uint64_t addr, struct window *w, const char **why);
/* Are the bytes of a jump at addr, in l, in no board that has been kept, and what the
 * file has? */
bool windows_board_free(
    struct state *st, struct space *sp, const struct load *l, uint64_t addr);
/* Keep what was found; `why' lives for ever. */
void windows_keep(struct state *st, const struct load *l, uint64_t addr,
    const struct window *w, const char *why);

#endif
