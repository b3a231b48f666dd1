/*
 * Return addresses in frames of HotSpot's own code on x86-64.
 */
#include <string.h>

#include "symbols/lang/hotspot_impl.h"

bool
hs_is_return(struct hotspot *hs, struct lang_walk *w, uint64_t pc)
{
	struct hs_blob b;

	if (pc < 4096)
		return false;
	if (hs_blob_at(hs, w, pc - 1, &b))
		return pc > b.code;
	return addrspace_load_at(w->as, pc) != NULL &&
	    unwind_is_code(w->unwinder, pc - 1);
}

enum hs_call
hs_call_before(struct lang_walk *w, uint64_t pc, uint64_t *target)
{
	static const uint8_t lengths[] = { 2, 3, 4, 6, 7 };
	uint8_t b[8];
	int32_t rel;

	if (!lang_read(w, pc - sizeof(b), b, sizeof(b)))
		return HS_CALL_NONE;
	if (b[3] == 0xe8) {
		memcpy(&rel, b + 4, sizeof(rel));
		*target = pc + (uint64_t)(int64_t)rel;
		return HS_CALL_DIRECT;
	}
	for (size_t i = 0; i < sizeof(lengths); i++) {
		const uint8_t *p = b + sizeof(b) - lengths[i];
		if (p[0] == 0xff && ((p[1] >> 3) & 7) == 2)
			return HS_CALL_OTHER;
	}
	return HS_CALL_NONE;
}

/*
 * Only the innermost frames of a virtual thread are on the stack; the others
 * are objects.  The outermost of these frames returns to code that restores
 * more frames, which no call precedes.  Below it is the frame that mounted the
 * thread; its ContinuationEntry is at its rsp (continuationEntry.hpp of the
 * JDK).
 */
static bool
is_mounted(struct hotspot *hs, struct lang_walk *w, const struct hs_blob *b,
    uint64_t pc, uint64_t rsp, uint64_t *entry)
{
	uint64_t thread, target;

	if (hs->l.cont_entry.size == 0 || b->kind != HS_CODE ||
	    hs_call_before(w, pc, &target) != HS_CALL_NONE ||
	    (thread = hs_thread_of(hs, w)) == 0)
		return false;
	*entry = hs_get(w, thread, &hs->l.cont_entry);
	return *entry >= rsp && (*entry & 7) == 0;
}

void
hs_caller_at(struct hotspot *hs, struct lang_walk *w, struct frame *caller,
    uint64_t pc, uint64_t rsp)
{
	uint64_t below = hs_static(w, &hs->l.cont_return), entry;
	struct hs_blob b;

	*caller = (struct frame){ .sure = true };
	hs->between[0] = '\0';
	if (below != 0 && hs_blob_at(hs, w, pc - 1, &b) &&
	    is_mounted(hs, w, &b, pc, rsp, &entry) &&
	    hs_is_return(hs, w, below)) {
		memcpy(hs->between, b.name, sizeof(hs->between));
		pc = below;
		rsp = entry;
	}
	frame_set(caller, CFI_RIP, pc);
	frame_set(caller, CFI_RSP, rsp);
}
