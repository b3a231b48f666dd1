/*
 * A machine that has not been written: Java's frames are not known.
 */
#include "symbols/lang/hotspot_impl.h"

enum step
hs_step(struct hotspot *hs, struct lang_walk *w, const struct frame *f,
    struct frame *caller)
{
	return STEP_FAIL;
}

bool
hs_is_return(struct hotspot *hs, struct lang_walk *w, uint64_t pc)
{
	return false;
}

enum hs_call
hs_call_before(struct lang_walk *w, uint64_t pc, uint64_t *target)
{
	return HS_CALL_NONE;
}

void
hs_caller_at(struct hotspot *hs, struct lang_walk *w, struct frame *caller,
    uint64_t pc, uint64_t sp)
{
	*caller = (struct frame){ 0 };
	frame_set(caller, CFI_PC, pc);
	frame_set(caller, CFI_SP, sp);
}

bool
hs_interp_step(struct hotspot *hs, struct lang_walk *w, const struct frame *f,
    struct frame *caller)
{
	return false;
}

bool
hs_interp_push(struct hotspot *hs, struct lang_walk *w, const struct frame *f)
{
	return false;
}
