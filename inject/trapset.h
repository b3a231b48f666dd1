/*
 * The area of a target that outlives us (trap/area.h): what to put back, and
 * the handler that does it.
 *
 *	trapset_map, trapset_old     the area is there; its handler can be
 *	                             installed (the tracer's business)
 *	trapset_keeper               who puts back what it lists if we die
 *	trapset_add, trapset_flush   before any of these places is changed
 *	trapset_mended               the last has been put back
 *	trapset_release              and the handler is not installed any more
 *
 * Where it is not mapped nothing can be added to it, and that is said: whoever
 * changes a place all the same has been told to (option unprotected).
 */
#ifndef INJECT_TRAPSET_H
#define INJECT_TRAPSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inject/target.h"
#include "inject/trap/area.h"

struct trapset;

/* trap/handler.c, linked at 0: the area's head, then code. */
extern const unsigned char trap_code[];
extern const size_t trap_code_size;

/* The target is borrowed. */
struct trapset *trapset_create(struct target *t);
/* Without touching the target. */
void trapset_destroy(struct trapset *ts);
/* The same in a copy of the memory. */
struct trapset *trapset_fork(const struct trapset *ts, struct target *child);

/* Map the area, somewhere near `near', if it is not there.  All threads
 * stopped.  0, or map_near()'s refusal; -EBUSY and -ESRCH are of the moment (no
 * thread can make the call), any other is remembered. */
int trapset_map(struct trapset *ts, uint64_t near);

/* The process that puts everything back when we are gone, and when it began.
 * 0 or -EFAULT: the area is gone. */
int trapset_keeper(struct trapset *ts, uint32_t pid, uint64_t since);

/* From now on some places are in memory that the program may write itself. */
void trapset_alone(struct trapset *ts);

/* Its address; 0 when there is none. */
uint64_t trapset_area(const struct trapset *ts);

/* TRAP_SCRATCH executable bytes in it that are the caller's (tracer/ptrace/remote.c);
 * 0: none, or it is about to be unmapped. */
#define TRAP_SCRATCH 256
uint64_t trapset_scratch(const struct trapset *ts);

/*
 * The action that the handler stands for, as words of the kernel's struct
 * sigaction: handler, flags, restorer, mask.  Returns the address of one to
 * install (in the area): ours, or with `own' that one itself.  0: no area.
 */
uint64_t trapset_action(struct trapset *ts, const uint64_t old[4], bool own);

/* With the byte of TRAP_TEXT: it is to be put back last. */
#define TRAP_IS_LATE (UINT64_C(1) << 32)

/* A place, once for each kind and address.  `what' is the code of TRAP_TEXT,
 * the size of TRAP_SLOTS, the mask of TRAP_MASK.  In the target after the next
 * flush.  0, -ENOENT without an area, or map_near()'s refusal of more room. */
int trapset_add(
    struct trapset *ts, enum trap_kind kind, uint64_t addr, uint64_t what);
/* The int3 at addr, which is on the list in the target, may be a jump from now
 * on; `tail' is what the program has behind its first byte.  0, -ENOENT, or
 * -EFAULT: then it is not known. */
int trapset_jump(
    struct trapset *ts, uint64_t addr, const uint8_t tail[TRAP_TAIL]);
/* The place is as it was. */
void trapset_drop(struct trapset *ts, enum trap_kind kind, uint64_t addr);
/* 0 or -EFAULT. */
int trapset_flush(struct trapset *ts);

/* How many places more can be added without mapping memory. */
size_t trapset_room(const struct trapset *ts);

/* Room for n places more, in one piece.  All threads stopped.  0, or why there
 * is none. */
int trapset_reserve(struct trapset *ts, size_t n);

/* [start, end) has been unmapped, or is no business of ours any more. */
void trapset_forget(struct trapset *ts, uint64_t start, uint64_t end);

/* Is it still there, as far as it was written? */
bool trapset_intact(struct trapset *ts);

/* It is gone, with all it lists (nothing of which may be in place any more):
 * the next trapset_map() makes another. */
void trapset_lost(struct trapset *ts);

/* Every place is as it was: the next tracer finds nothing to do. */
void trapset_mended(struct trapset *ts);

/* Is a thread known to be in the handler? */
bool trapset_runs(struct trapset *ts);
/* The address of the area if another signal's handler may have been called on top
 * of ours, which then stands in a frame; or 0. */
uint64_t trapset_nested(const struct trapset *ts);

/* Unmap it, unless a thread is in the handler, or may be. */
void trapset_release(struct trapset *ts);

#endif
