/*
 * Restores what the area (trap/area.h) lists, in a process whose tracer has
 * died.  The guardian and the next tracer call it.
 *
 * It works through a file descriptor of /proc/PID/mem, allocates nothing, and
 * changes only bytes that are an int3.  It may be interrupted at any point and
 * done again.  The process may be running.
 */
#ifndef INJECT_TRAPMEND_H
#define INJECT_TRAPMEND_H

#include <stdbool.h>
#include <stdint.h>

#include "inject/trap/area.h"

/* Read the head of the area at addr.  False: there is none. */
bool trapmend_head(int mem, uint64_t addr, struct trap_area *head);

/* Restore the program's bytes, with one write a page.  Returns the number of
 * int3s that could not be removed. */
unsigned trapmend_text(int mem, uint64_t area);

/* The same, except for places marked `late'. */
unsigned trapmend_most(int mem, uint64_t area);

/*
 * Restore the program's bytes at each jump for whose target `ours' returns
 * true; the target of a short one is that of its board.  All threads must be
 * stopped, and none inside of the code it leads to.  Returns the number of jumps that
 * could not be removed.
 */
unsigned trapmend_jumps(
    int mem, uint64_t area, bool (*ours)(void *ctx, uint64_t to), void *ctx);

/*
 * The same for a board, an entry of kind TRAP_BOARD, after the jumps of its area.  No
 * thread may be at it.  Returns false if it could not be removed.
 */
bool trapmend_board(int mem, const struct trap_entry *e,
    bool (*ours)(void *ctx, uint64_t to), void *ctx);

/* Lower each raised semaphore, once: its entry is removed first. */
void trapmend_semaphores(int mem, uint64_t area);

/* Note in the area that everything is restored.  Call it after both, and only
 * if nothing is left. */
void trapmend_done(int mem, uint64_t area);

/* Call fn for every entry of the kind, as long as it returns true. */
void trapmend_each(int mem, uint64_t area, enum trap_kind kind,
    bool (*fn)(void *ctx, const struct trap_entry *e), void *ctx);

#endif
