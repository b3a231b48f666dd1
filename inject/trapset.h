/*
 * The area of a target that outlives us (trap/area.h): what to put back, and
 * the handler that does it.
 *
 *	trapset_map, trapset_old     the area is there; its handler can be
 *	                             installed (the tracer's business)
 *	trapset_add, trapset_flush   before any of these places is changed
 *	trapset_release              after the last has been put back and the
 *	                             handler is not installed any more
 *
 * One that could not be mapped takes everything and does nothing: a target that
 * may not map memory is traced without this.
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
 * stopped.  0, or map_near()'s refusal, which is remembered. */
int trapset_map(struct trapset *ts, uint64_t near);

/* Its address; 0 when there is none. */
uint64_t trapset_area(const struct trapset *ts);

/* TRAP_SCRATCH executable bytes in it that are the caller's (tracer/remote.c);
 * 0: none, or it is about to be unmapped. */
#define TRAP_SCRATCH 256
uint64_t trapset_scratch(const struct trapset *ts);

/*
 * The action that the handler stands for, as words of the kernel's struct
 * sigaction: handler, flags, restorer, mask.  Returns the address of one to
 * install (in the area): ours, or with `own' that one itself.  0: no area.
 */
uint64_t trapset_action(struct trapset *ts, const uint64_t old[4], bool own);

/* A place, once for each kind and address.  `what' is the byte of TRAP_TEXT,
 * the size of TRAP_SLOTS.  In the target after the next flush. */
void trapset_add(
    struct trapset *ts, enum trap_kind kind, uint64_t addr, uint32_t what);
/* The place is as it was. */
void trapset_drop(struct trapset *ts, enum trap_kind kind, uint64_t addr);
/* 0 or -EFAULT. */
int trapset_flush(struct trapset *ts);

/* [start, end) has been unmapped, or is no business of ours any more. */
void trapset_forget(struct trapset *ts, uint64_t start, uint64_t end);

/* Unmap it, unless a thread is in the handler. */
void trapset_release(struct trapset *ts);

#endif
