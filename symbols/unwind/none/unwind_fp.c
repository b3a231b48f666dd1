/*
 * A machine that has not been written: no convention leads from a frame to its
 * caller.
 */
#include "symbols/unwind/frame.h"

bool
unwind_is_after_call(struct unwinder *u, uint64_t addr)
{
	return false;
}

enum step
unwind_sigreturn_step(
    struct unwinder *u, const struct frame *f, struct frame *caller)
{
	return STEP_FAIL;
}

enum step
unwind_fp_step(struct unwinder *u, const struct frame *f, struct frame *caller)
{
	return STEP_FAIL;
}

enum step
unwind_search_step(
    struct unwinder *u, const struct frame *f, struct frame *caller)
{
	return STEP_FAIL;
}
