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
	const struct stub *stub = &entry_of(tp)->stub;

	/* The instructions behind it are the program's only there. */
	if (tp->jumps && stub->addr != 0) {
		regs->r[UREG_PC] =
		    stub_address(stub, stub->displaced[stub->first]);
		return 0;
	}
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

	if (owner == NULL || pc - owner->slot >= SLOT_SIZE_MAX)
		return SLOT_OUTSIDE;
	if (tp != NULL)
		*tp = owner;
	return displaced_leave(owner->plan, tptable_target(tab),
	    (unsigned)(pc - owner->slot), regs);
}

/* Does the hit count?  If not, its second one is none either. */
static bool
goes(const struct entry *e, struct target *t, const struct uregs *regs)
{
	uint64_t to;

	return !e->stub.taken || displaced_branch(e->tp.plan, t, regs, &to);
}

uint64_t
resume_stub_pc(struct tptable *tab, uint64_t pc, uint64_t sp)
{
	struct target *t = tptable_target(tab);
	const struct entry *e = NULL;
	uint64_t back;

	if (run_at(tab, pc) != NULL &&
	    t->ops->read(t, sp, &back, sizeof(back)) == 0)
		e = entry_at_stub(tab, back);
	return e != NULL && e->stub.rare != 0 &&
		back == stub_address(&e->stub, e->stub.back) ?
	    back :
	    pc;
}

bool
resume_stub_shared(struct tptable *tab, uint64_t pc)
{
	return run_at(tab, pc) != NULL;
}

enum slot_place
resume_leave_stub(
    struct tptable *tab, struct uregs *regs, struct tracepoint **tp)
{
	struct target *t = tptable_target(tab);
	uint64_t pc = regs->r[UREG_PC];
	const struct stub_run *run = run_at(tab, pc);
	struct entry *e =
	    entry_at_stub(tab, resume_stub_pc(tab, pc, regs->r[UREG_SP]));

	if (run != NULL && stub_run_fires(run, pc)) {
		*tp = NULL;
		return SLOT_FIRING;
	}
	if (e == NULL)
		return SLOT_OUTSIDE;
	*tp = &e->tp;
	if (pc == e->board) {
		regs->r[UREG_PC] = tracepoint_start(&e->tp);
		return e->tp.before == 0 ? SLOT_ENTERED : SLOT_AFTER;
	}
	switch (run != NULL ? stub_run_leave(run, &e->stub, t, regs) :
			      stub_leave(&e->stub, t, regs)) {
	case STUB_BEFORE: return SLOT_ENTERED;
	case STUB_FIRING: return SLOT_FIRING;
	case STUB_FIRED:
		return goes(e, tptable_target(tab), regs) ? SLOT_BEFORE :
							    SLOT_ENTERED;
	case STUB_AHEAD:
	case STUB_BEHIND: return SLOT_AFTER;
	case STUB_OUTSIDE: break;
	}
	return SLOT_OUTSIDE;
}

bool
resume_stub_trap(struct tptable *tab, uint64_t addr, struct tracepoint **tp)
{
	struct entry *e = entry_at_stub(tab, addr);

	if (e == NULL ||
	    (addr != stub_address(&e->stub, e->stub.trap) &&
		addr != stub_address(&e->stub, e->stub.called_trap)))
		return false;
	*tp = &e->tp;
	return true;
}

struct tracepoint *
resume_stub_asks(struct tptable *tab, uint64_t addr)
{
	struct entry *e = entry_at_stub(tab, addr);

	return e != NULL && addr == stub_address(&e->stub, e->stub.asked) ?
	    &e->tp :
	    NULL;
}

bool
resume_stub_faults(struct tptable *tab, uint64_t pc)
{
	const struct entry *e = entry_at_stub(tab, pc);
	const struct stub_run *run = run_at(tab, pc);

	if (run != NULL)
		return pc == run->addr + run->finds[0] ||
		    pc == run->addr + run->finds[1];
	return e != NULL &&
	    (pc == stub_address(&e->stub, e->stub.finds[0]) ||
		pc == stub_address(&e->stub, e->stub.finds[1]));
}

struct tracepoint *
resume_stub_at(struct tptable *tab, uint64_t pc)
{
	struct entry *e = entry_at_stub(tab, pc);

	return e != NULL ? &e->tp : NULL;
}

unsigned
resume_stub_leads(struct tptable *tab, uint64_t pc, const uint64_t **at)
{
	const struct entry *e = entry_at_stub(tab, pc);

	*at = e != NULL ? e->stub.site : NULL;
	return e != NULL ? e->stub.n + 1 : 0;
}

uint64_t
resume_stub_onto(struct tptable *tab, uint64_t pc)
{
	const struct entry *e = entry_at_stub(tab, pc);

	return e != NULL ? e->stub.onto : 0;
}

uint64_t
resume_text_pc(struct tptable *tab, uint64_t pc)
{
	struct tracepoint *owner = slot_owner(tptable_slots(tab), pc);
	const struct entry *e = entry_at_stub(tab, pc);

	if (e != NULL && pc == e->board)
		return tracepoint_start(&e->tp);
	if (e != NULL)
		return stub_text_pc(&e->stub, pc);
	if (owner == NULL || owner == &tab->shared.tp)
		return pc;
	return displaced_text_pc(owner->plan, (unsigned)(pc - owner->slot));
}

uint64_t
resume_thread_pc(struct tptable *tab, uint64_t pc, uint64_t sp)
{
	return tab != NULL ? resume_text_pc(tab, resume_stub_pc(tab, pc, sp)) :
			     pc;
}

bool
resume_branch_goes(struct tptable *tab, struct tracepoint *tp,
    const struct uregs *regs, uint64_t *to)
{
	return displaced_branch(tp->plan, tptable_target(tab), regs, to);
}
