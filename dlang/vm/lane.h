/*
 * A lane of a thread store: given to a thread, taken back, given to another.
 *
 * The tracer does both, while the thread is stopped or before it runs; at any
 * time a lane has one writer.  What a thread leaves behind in its lane (records,
 * aggregations, drops) the consumer reads before the lane is given again.
 */
#ifndef DLANG_VM_LANE_H
#define DLANG_VM_LANE_H

#include "dlang/vm/vm.h"

/* Who gets a lane. */
struct lane_owner {
	uint64_t thread; /* the identity behind self->, as vm_env's; not 0 */
	uint32_t pid, tid;
	bool followed; /* as vm_env's */
};

/*
 * Make the lane fresh and the owner's.  Its layout is written anew from the
 * view, which was taken before a target could write; everything that a clause
 * or the consumer may look at is as in a new store: no variable, record, or
 * aggregation, no drop, no count.  Pages that each firing uses have been written
 * to afterwards, so that they are charged to who calls.
 */
void lane_give(const struct lane_view *v, const struct lane_owner *owner);

/* The lane is nobody's: nothing fires in it any more. */
void lane_take(const struct lane_view *v);

/* Did the thread stop in the middle of a firing in its lane?  Then nobody else
 * writes there.  As the target says; it may say anything. */
bool lane_is_busy(const struct lane_view *v);

/* The environment for firings in a lane, where its owner has it. */
static inline struct vm_env *
lane_env(struct lane *l)
{
	return (void *)(l + 1);
}

#endif
