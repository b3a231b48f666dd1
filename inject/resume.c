/*
 * From a thread stopped at a tracepoint to the registers that continue it.
 *
 * The common hit ends here without a system call: pc goes to the slot, or the
 * effect is computed.  Text is never touched and nobody is single-stepped.
 */
#include "inject/resume.h"

#include "inject/displaced.h"
#include "inject/slot.h"
#include "inject/tracepoint_impl.h"

int
resume_from(struct tptable *tab, struct tracepoint *tp, struct uregs *regs,
    uint64_t *fault_addr)
{
	if (tp->slot != 0) {
		regs->r[UREG_PC] = tp->slot;
		return 0;
	}
	return displaced_emulate(
	    tp->plan, tptable_target(tab), regs, fault_addr);
}

enum slot_place
resume_leave_slot(
    struct tptable *tab, struct uregs *regs, struct tracepoint **tp)
{
	uint64_t pc = regs->r[UREG_PC];
	struct tracepoint *owner = slot_owner(tptable_slots(tab), pc);

	if (owner == NULL)
		return SLOT_OUTSIDE;
	if (tp != NULL)
		*tp = owner;
	return displaced_leave(owner->plan, tptable_target(tab),
	    (unsigned)(pc - owner->slot), regs);
}

uint64_t
resume_text_pc(struct tptable *tab, uint64_t pc)
{
	struct tracepoint *owner = slot_owner(tptable_slots(tab), pc);

	if (owner == NULL)
		return pc;
	return displaced_text_pc(owner->plan, (unsigned)(pc - owner->slot));
}

bool
resume_branch_goes(struct tptable *tab, struct tracepoint *tp,
    const struct uregs *regs, uint64_t *to)
{
	return displaced_branch(tp->plan, tptable_target(tab), regs, to);
}
