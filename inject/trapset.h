/*
 * The trapset: the tracer's side of the area in a target (trap/area.h), which
 * lists what must be restored if the tracer dies, and has the handler that does
 * it.
 *
 *	trapset_map, trapset_action  map the area; then its handler can be installed
 *	trapset_keeper               who restores everything if the tracer dies
 *	trapset_add, trapset_flush   before any of these places is changed
 *	trapset_mended               everything has been restored
 *	trapset_release              the handler is not installed any more
 *
 * If the area is not mapped, trapset_add() fails.  Text is then changed only
 * with option unprotected.
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
/* Free it without touching the target. */
void trapset_destroy(struct trapset *ts);
/* The same in a copy of the memory, as fork makes one, which may be older than
 * the list.  The next flush writes to the copy what it does not have yet. */
struct trapset *trapset_fork(const struct trapset *ts, struct target *child);

/* Map the area near `near', if it is not mapped.  All threads must be stopped.
 * 0, or the error of map_near().  After -EBUSY and -ESRCH (no thread can make
 * the call now) it may be tried again; any other error is remembered. */
int trapset_map(struct trapset *ts, uint64_t near);

/* Record the process that restores everything if the tracer dies, and its start
 * time; an area that is mapped later names it, too.  0, or -EFAULT: the area is
 * gone. */
int trapset_keeper(struct trapset *ts, uint32_t pid, uint64_t since);

/* Note that some places are in memory that the program itself may write. */
void trapset_alone(struct trapset *ts);

/* The address of the area; 0 if there is none. */
uint64_t trapset_area(const struct trapset *ts);

/* The address of TRAP_SCRATCH executable bytes in the area, for the code of
 * system calls (tracer/ptrace/remote.c).  0: there is no area, or it is about
 * to be unmapped. */
#define TRAP_SCRATCH 256
uint64_t trapset_scratch(const struct trapset *ts);

/*
 * Set the program's own action, which the handler performs, as words of the
 * kernel's struct sigaction: handler, flags, restorer, mask.  Returns the
 * address in the area of the action to install: dtrap's, or with `own' the
 * program's.  0: no area.
 */
uint64_t trapset_action(struct trapset *ts, const uint64_t old[4], bool own);

/* A flag in `what' of TRAP_TEXT: this place is restored last. */
#define TRAP_IS_LATE (UINT64_C(1) << 32)

/* Add a place; each kind and address only once.  `what' is the program's byte
 * for TRAP_TEXT, the size for TRAP_SLOTS, the mask for TRAP_MASK.  The next
 * flush writes it to the target.  0; -ENOENT without an area; or the error of
 * map_near() if it needs more memory. */
int trapset_add(
    struct trapset *ts, enum trap_kind kind, uint64_t addr, uint64_t what);
/* Note that a jump may be at addr from now on; `own' are the program's bytes
 * there.  The next flush writes it to the target.  Errors as for
 * trapset_add(). */
int trapset_jump(
    struct trapset *ts, uint64_t addr, const uint8_t own[TRAP_JUMP_LEN]);
/* The same for a board, to which a short jump leads over the distance `way'. */
int trapset_board(struct trapset *ts, uint64_t addr,
    const uint8_t own[TRAP_JUMP_LEN], int8_t way);
/* Remove a place that has been restored. */
void trapset_drop(struct trapset *ts, enum trap_kind kind, uint64_t addr);
/* Write changed entries to the target.  0 or -EFAULT. */
int trapset_flush(struct trapset *ts);

/* The number of places that can be added without mapping memory. */
size_t trapset_room(const struct trapset *ts);

/* Map memory for n more places, in one piece.  All threads must be stopped.  0
 * or an error. */
int trapset_reserve(struct trapset *ts, size_t n);

/* Remove the places in [start, end), which was unmapped or is not traced any
 * more. */
void trapset_forget(struct trapset *ts, uint64_t start, uint64_t end);

/* Does the target still have the area as it was written? */
bool trapset_intact(struct trapset *ts);

/* The area is gone, and so is its list; none of the listed changes may still be
 * in the target.  The next trapset_map() maps a new one. */
void trapset_lost(struct trapset *ts);

/* Note in the target that every place is restored, so that the next tracer has
 * nothing to do. */
void trapset_mended(struct trapset *ts);

/* Has the handler restored places?  While the tracer lives, that is because of a
 * thread that is not traced. */
bool trapset_healed(struct trapset *ts);

/* Is a thread known to be in the handler? */
bool trapset_runs(struct trapset *ts);
/* The address of the area if another signal's handler may have been called on top
 * of ours, which then stands in a frame; or 0. */
uint64_t trapset_nested(const struct trapset *ts);

/* Unmap the area, unless a thread is in the handler, or may be because its pc is
 * unknown.  All threads must be stopped. */
void trapset_release(struct trapset *ts);

#endif
