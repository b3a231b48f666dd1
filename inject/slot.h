/*
 * Out-of-line slots: small pieces of executable memory in the target, near the
 * text, in which displaced instructions run.
 *
 * For files of inject/ only.  A pool belongs to one tracepoint table.  Bytes
 * that are written to slots are buffered in the tracer until slots_flush(), so
 * that arming many tracepoints takes few writes.
 */
#ifndef INJECT_SLOT_H
#define INJECT_SLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inject/target.h"

struct slots;
struct tracepoint;

#define SLOT_SIZE_MAX 64 /* enough for the code of any displaced instruction */

struct slots *slots_create(struct target *t);

/* Frees the pool without touching the target. */
void slots_destroy(struct slots *s);

/*
 * Allocate `size' bytes for `owner' within [lo, hi]. The first piece of memory
 * with room is used. If none has room, memory is mapped near the middle of [lo,
 * hi], or a cave near `near' is used. 0; -ENOMEM if there is no room; -EBUSY if
 * memory would have to be mapped while slots_hold() is in effect; or the error
 * of map_near() if the target may not map memory and has no cave either.
 */
int slot_alloc(struct slots *s, uint64_t near, uint64_t lo, uint64_t hi,
    size_t size, struct tracepoint *owner, uint64_t *addr);

/* The same, but never in a cave: the next tracer recognises only memory that dtrap
 * has mapped. */
int slot_alloc_mapped(struct slots *s, uint64_t near, uint64_t lo, uint64_t hi,
    size_t size, struct tracepoint *owner, uint64_t *addr);

/* The same for code that threads execute all the time: in memory where nothing else
 * is, and such that it takes as few cache lines as possible. */
int slot_alloc_dense(struct slots *s, uint64_t near, uint64_t lo, uint64_t hi,
    size_t size, struct tracepoint *owner, uint64_t *addr);

/* Make room for so many bytes of slots within [lo, hi], in one piece of memory;
 * `dense': for slot_alloc_dense().  Errors as for slot_alloc(). */
int slots_reserve(struct slots *s, uint64_t near, uint64_t lo, uint64_t hi,
    size_t bytes, bool dense);

/* While `hold' is set, slot_alloc() maps no memory and fails with -EBUSY
 * instead. */
void slots_hold(struct slots *s, bool hold);

/* The bytes that a slot of `size' takes of a piece of memory. */
size_t slot_room(size_t size);

/* Free a slot.  No thread may be inside. */
void slot_free(struct slots *s, uint64_t addr, size_t size);

/* Set the bytes of a slot; slots_flush() writes them to the target. */
void slot_write(struct slots *s, uint64_t addr, const void *bytes, size_t len);

/* Write changed bytes to the target.  0, or -EFAULT if some could not be
 * written; slot_written() tells which. */
int slots_flush(struct slots *s);

/* Has the slot's memory in the target the bytes of slot_write()? */
bool slot_written(const struct slots *s, uint64_t addr);

/* The owner of the slot that contains pc; NULL outside of all slots. */
struct tracepoint *slot_owner(const struct slots *s, uint64_t pc);

/* The bounds of the piece of memory for slots that contains addr; false if none
 * does. */
bool slot_bounds(
    const struct slots *s, uint64_t addr, uint64_t *start, size_t *size);

/* The same pool for a copy of the memory, a fork's child's.  Its slots have no
 * owners. */
struct slots *slots_fork(const struct slots *s, struct target *child);

/* Set the owner of a slot that slots_fork() copied. */
void slot_adopt(
    struct slots *s, uint64_t addr, size_t size, struct tracepoint *owner);

/*
 * Release every piece of memory that no thread is in: unmap it, or restore the
 * bytes of a cave.  Calls `gone' with the bounds of each.
 */
void slots_release(struct slots *s,
    void (*gone)(void *ctx, uint64_t start, uint64_t end), void *ctx);

#endif
