/*
 * Lanes of a thread store: a lane is given to a thread, taken back, and given
 * to another.
 *
 * The tracer does both while the thread is stopped or before it runs, so a lane
 * has one writer at any time.  The consumer reads what a thread leaves in its
 * lane (records, aggregations, drops) before the lane is given to another
 * thread.
 */
#ifndef DLANG_VM_LANE_H
#define DLANG_VM_LANE_H

#include "dlang/vm/vm.h"

/* The thread that gets a lane. */
struct lane_owner {
	uint64_t thread; /* the identity behind self->, as vm_env's; not 0 */
	uint32_t pid, tid;
	bool followed;         /* as vm_env's */
	uint64_t self, memory; /* struct lane's; 0: it fires by trap alone */
	uint64_t clock;        /* struct lane's, as the others here */
	uint64_t text, tick_most, tick_rate;
};

/*
 * Reset the lane and give it to the owner.  The layout is written again from
 * the view, which was taken before a target could write.  Afterwards the lane
 * is as in a new store: no variables, records, aggregations, drops or counts.
 * The pages that each firing uses have been written to, so their memory is
 * charged to the caller's process.
 */
void lane_give(const struct lane_view *v, const struct lane_owner *owner);

/* Take the lane back: nothing fires in it any more. */
void lane_take(const struct lane_view *v);

/* Did the thread stop in the middle of a firing in its lane?  Then the tracer
 * must not write there.  The answer is read from memory that the target can
 * change, so it may be wrong. */
bool lane_is_busy(const struct lane_view *v);

/* The environment for firings in the target, in the lane itself. */
static inline struct vm_env *
lane_env(struct lane *l)
{
	return (void *)(l + 1);
}

#endif
