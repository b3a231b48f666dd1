/*
 * What an area lists (trap/area.h), put back in a process that its tracer has
 * left: by the guardian, or by the next tracer.
 *
 * Works on memory behind a descriptor of /proc/PID/mem, allocates nothing, and
 * changes no byte that is not an int3.  May be broken off at any point and done
 * again.  The process may be running.
 */
#ifndef INJECT_TRAPMEND_H
#define INJECT_TRAPMEND_H

#include <stdbool.h>
#include <stdint.h>

#include "inject/trap/area.h"

/* The head of the area at addr.  False: there is none. */
bool trapmend_head(int mem, uint64_t addr, struct trap_area *head);

/* The program's own bytes, all those of a page with one write.  How many int3s
 * could not be taken out. */
unsigned trapmend_text(int mem, uint64_t area);

/* The same, but for places that are to be late. */
unsigned trapmend_most(int mem, uint64_t area);

/*
 * The program's own bytes where a jump stands that leads to where `ours' says
 * yes.  All threads are stopped, and none is on its way by one.  How many could
 * not be taken out.
 */
unsigned trapmend_jumps(
    int mem, uint64_t area, bool (*ours)(void *ctx, uint64_t to), void *ctx);

/* Each raised semaphore lowered, once: its entry goes first. */
void trapmend_semaphores(int mem, uint64_t area);

/* Says so in the area.  After both, and only if nothing is left. */
void trapmend_done(int mem, uint64_t area);

/* Every entry of the kind, as long as fn returns true. */
void trapmend_each(int mem, uint64_t area, enum trap_kind kind,
    bool (*fn)(void *ctx, const struct trap_entry *e), void *ctx);

#endif
