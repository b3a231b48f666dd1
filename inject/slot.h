/*
 * Out-of-line slots: small pieces of executable memory in the target, near
 * the text they stand for, where displaced instructions are run.
 *
 * For files of inject/ only.  A pool belongs to one tracepoint table.  What is
 * written to a slot stays in the tracer until slots_flush(), so that arming
 * many tracepoints costs a few writes.
 */
#ifndef INJECT_SLOT_H
#define INJECT_SLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inject/target.h"

struct slots;
struct tracepoint;

#define SLOT_SIZE_MAX 64 /* the longest displaced instruction there is */

struct slots *slots_create(struct target *t);

/* Frees the pool without touching the target. */
void slots_destroy(struct slots *s);

/*
 * `size' bytes for `owner', all of them within [lo, hi], as near to `near' as
 * the target has room.  0; -ENOMEM when there is none; or what map_near() said
 * when the target may not map memory and has no cave either.
 */
int slot_alloc(struct slots *s, uint64_t near, uint64_t lo, uint64_t hi,
    size_t size, struct tracepoint *owner, uint64_t *addr);

/* Room for so many bytes of slots within [lo, hi], in one piece of memory.  0,
 * or as slot_alloc(). */
int slots_reserve(
    struct slots *s, uint64_t near, uint64_t lo, uint64_t hi, size_t bytes);

/* While it is held, slots are cut only from memory that is there. */
void slots_hold(struct slots *s, bool hold);

/* What a slot of `size' takes of it. */
size_t slot_room(size_t size);

/* No thread is inside; the bytes may be handed out again. */
void slot_free(struct slots *s, uint64_t addr, size_t size);

/* Set the slot's bytes; slots_flush() carries them to the target. */
void slot_write(struct slots *s, uint64_t addr, const void *bytes, size_t len);

/* Write what changed.  0, or -EFAULT when some of it could not be written:
 * then slot_written() says which. */
int slots_flush(struct slots *s);

/* Is the slot's memory in the target what slot_write() was given? */
bool slot_written(const struct slots *s, uint64_t addr);

/* Whose slot is pc in?  NULL outside of all slots. */
struct tracepoint *slot_owner(const struct slots *s, uint64_t pc);

/* Is pc in memory that slots are cut from, used or not? */
bool slot_memory(const struct slots *s, uint64_t pc);

/* The piece of memory that addr's slot was cut from; false outside of all. */
bool slot_bounds(
    const struct slots *s, uint64_t addr, uint64_t *start, size_t *size);

/* The same pool over a copy of the memory; nothing has an owner yet. */
struct slots *slots_fork(const struct slots *s, struct target *child);

/* Give a slot that slots_fork() copied its owner. */
void slot_adopt(
    struct slots *s, uint64_t addr, size_t size, struct tracepoint *owner);

/*
 * Give back every piece of memory that no thread is in: unmap it, or put a
 * cave's bytes back.  Calls `gone' with the bounds of each.
 */
void slots_release(struct slots *s,
    void (*gone)(void *ctx, uint64_t start, uint64_t end), void *ctx);

#endif
