/*
 * x86-64's part of resuming: the effects of displaced instructions on
 * registers, and moving a thread out of a slot.
 *
 * A thread in a slot is between two instructions, so there are few cases:
 * before the displaced instruction, after it, and the intermediate states of
 * rewritten ones.  An intermediate state is undone by moving rsp, and in one
 * case by restoring a register from the stack; or it is completed if only a
 * jump is left.
 */
#include "inject/displaced.h"

#include <errno.h>

#include "dlang/base/log.h"

#define RFLAGS_AF (UINT64_C(1) << 4)
#define RFLAGS_ARITH \
	(RFLAGS_CF | RFLAGS_PF | RFLAGS_AF | RFLAGS_ZF | RFLAGS_SF | RFLAGS_OF)

/* What the scratch form takes from the stack: red zone, then the register. */
#define RED_ZONE      128U
#define SCRATCH_STACK (RED_ZONE + 8U)
/* Lengths of its first instructions, as x86_64/displaced.c writes them. */
#define SCRATCH_LEA  5U
#define SCRATCH_PUSH 2U
#define SCRATCH_POP  2U
/* And of those that follow the operand's push in a call through memory. */
#define FETCH_PUSH 3U
#define FETCH_LEA  5U
#define RET_PUSH   6U

/* enum ureg by hardware number, r8 to r15: the scratch registers. */
static const uint8_t high_ureg[8] = { UREG_R8, UREG_R9, UREG_R10, UREG_R11,
	UREG_R12, UREG_R13, UREG_R14, UREG_R15 };

static uint64_t
next_of(const struct displaced *d)
{
	return d->insn.addr + d->insn.len;
}

/* Condition codes as in the low four bits of the opcode; the lowest negates. */
static bool
condition(unsigned cond, uint64_t flags)
{
	bool cf = flags & RFLAGS_CF, zf = flags & RFLAGS_ZF;
	bool sf = flags & RFLAGS_SF, of = flags & RFLAGS_OF;
	bool pf = flags & RFLAGS_PF, is = false;

	switch (cond >> 1) {
	case 0: is = of; break;
	case 1: is = cf; break;
	case 2: is = zf; break;
	case 3: is = cf || zf; break;
	case 4: is = sf; break;
	case 5: is = pf; break;
	case 6: is = sf != of; break;
	case 7: is = zf || sf != of; break;
	}
	return is != (cond & 1);
}

/* loop and jrcxz: is the branch taken, and with what count left? */
static bool
loop_taken(const struct insn *insn, const struct uregs *regs, uint64_t *count)
{
	uint64_t n = regs->r[UREG_RCX];
	bool zf = regs->r[UREG_RFLAGS] & RFLAGS_ZF;

	*count = n;
	if (insn->cond == LOOP_JCXZ)
		return (insn->addrsize == 4 ? (uint32_t)n : n) == 0;
	/* Writing ecx clears the upper half, as every 32-bit write does. */
	n = insn->addrsize == 4 ? (uint32_t)(n - 1) : n - 1;
	*count = n;
	if (insn->cond == LOOP_LOOP)
		return n != 0;
	return n != 0 && zf == (insn->cond == LOOP_LOOPE);
}

/* The offset part of a memory operand: what lea computes. */
static uint64_t
effective(const struct displaced *d, const struct uregs *regs)
{
	const struct insn *insn = &d->insn;
	uint64_t ea = (uint64_t)(int64_t)insn->disp;

	if (insn->rip_relative)
		ea += next_of(d);
	if (insn->base != INSN_NOREG)
		ea += regs->r[insn->base];
	if (insn->index != INSN_NOREG)
		ea += regs->r[insn->index] * insn->scale;
	return insn->addrsize == 4 ? (uint32_t)ea : ea;
}

static uint64_t
linear(const struct displaced *d, const struct uregs *regs)
{
	uint64_t ea = effective(d, regs);

	if (d->insn.segment == 0x64)
		ea += regs->r[UREG_FS_BASE];
	else if (d->insn.segment == 0x65)
		ea += regs->r[UREG_GS_BASE];
	return ea;
}

/* add or sub of a constant to rsp: imm is what is added in the end. */
static void
emulate_add_rsp(const struct insn *insn, struct uregs *regs)
{
	bool sub = (insn->bytes[insn->modrm_at] & 0x38) == 5 << 3;
	uint64_t a = regs->r[UREG_RSP], flags = 0;
	uint64_t b = sub ? (uint64_t)-insn->imm : (uint64_t)insn->imm;
	uint64_t res = sub ? a - b : a + b;

	if (sub ? a < b : res < a)
		flags |= RFLAGS_CF;
	if (!__builtin_parity((unsigned)(res & 0xff)))
		flags |= RFLAGS_PF;
	if ((a ^ b ^ res) & 0x10)
		flags |= RFLAGS_AF;
	if (res == 0)
		flags |= RFLAGS_ZF;
	if (res >> 63)
		flags |= RFLAGS_SF;
	if ((sub ? (a ^ b) & (a ^ res) : (a ^ res) & (b ^ res)) >> 63)
		flags |= RFLAGS_OF;
	regs->r[UREG_RSP] = res;
	regs->r[UREG_RFLAGS] = (regs->r[UREG_RFLAGS] & ~RFLAGS_ARITH) | flags;
}

/*
 * Is pc a canonical address?  A jump to a non-canonical address faults at the
 * jump.  48 bits are checked: no program has text above; a processor with 57
 * bits would fault at the target instead, which ends the program as well.
 */
static bool
canonical(uint64_t pc)
{
	return (uint64_t)((int64_t)(pc << 16) >> 16) == pc;
}

/* Jump or call whose target has been read: nothing is changed on a fault. */
static int
emulate_go(const struct displaced *d, struct target *t, struct uregs *regs,
    uint64_t to, uint64_t *fault_addr)
{
	uint64_t next = next_of(d), rsp = regs->r[UREG_RSP] - 8;

	if (!canonical(to)) {
		*fault_addr = 0; /* as the kernel says for such faults */
		return -EFAULT;
	}
	if (d->insn.kind == INSN_CALL_IND) {
		if (t->ops->write(t, rsp, &next, 8) != 0) {
			*fault_addr = rsp;
			return -EFAULT;
		}
		regs->r[UREG_RSP] = rsp;
	}
	regs->r[UREG_RIP] = to;
	return 0;
}

static int
emulate_indirect(const struct displaced *d, struct target *t,
    struct uregs *regs, uint64_t *fault_addr)
{
	uint64_t to, addr;

	if (!d->insn.mem)
		return emulate_go(d, t, regs, regs->r[d->insn.reg], fault_addr);
	addr = linear(d, regs);
	if (t->ops->read(t, addr, &to, 8) != 0) {
		*fault_addr = addr;
		return -EFAULT;
	}
	return emulate_go(d, t, regs, to, fault_addr);
}

bool
displaced_branch(const struct displaced *d, struct target *t,
    const struct uregs *regs, uint64_t *to)
{
	const struct insn *insn = &d->insn;
	uint64_t count;

	*to = insn->target;
	switch (insn->kind) {
	case INSN_JMP:
	case INSN_CALL: return true;
	case INSN_JCC: return condition(insn->cond, regs->r[UREG_RFLAGS]);
	case INSN_LOOP: return loop_taken(insn, regs, &count);
	case INSN_JMP_IND:
	case INSN_CALL_IND:
		if (insn->mem)
			return t->ops->read(t, linear(d, regs), to, 8) == 0;
		*to = regs->r[insn->reg];
		return true;
	default: return false;
	}
}

static uint64_t
truncated(uint64_t v, unsigned opsize)
{
	return opsize == 4 ? (uint32_t)v : v;
}

int
displaced_emulate(const struct displaced *d, struct target *t,
    struct uregs *regs, uint64_t *fault_addr)
{
	const struct insn *insn = &d->insn;
	uint64_t to, count;

	if (insn->kind == INSN_JMP_IND || insn->kind == INSN_CALL_IND)
		return emulate_indirect(d, t, regs, fault_addr);
	regs->r[UREG_RIP] = displaced_branch(d, t, regs, &to) ? to : next_of(d);
	if (insn->kind == INSN_LOOP) {
		loop_taken(insn, regs, &count);
		regs->r[UREG_RCX] = count;
	} else if (insn->kind == INSN_MOV_REG) {
		regs->r[insn->reg] =
		    truncated(regs->r[insn->reg2], insn->opsize);
	} else if (insn->kind == INSN_LEA) {
		regs->r[insn->reg] =
		    truncated(effective(d, regs), insn->opsize);
	} else if (insn->kind == INSN_ADD_SP) {
		emulate_add_rsp(insn, regs);
	}
	return 0;
}

/* The scratch form: what to take off the stack, and whether r is changed. */
static enum slot_place
leave_scratch(const struct displaced *d, struct target *t, unsigned at,
    struct uregs *regs)
{
	uint64_t *rsp = &regs->r[UREG_RSP];
	bool saved = at >= d->begun_at && at < d->done_at + SCRATCH_POP;
	uint64_t r;

	/* r may hold the data's address: take the program's value back. */
	if (saved && t->ops->read(t, *rsp, &r, 8) == 0)
		regs->r[high_ureg[d->scratch & 7]] = r;
	else if (saved)
		LOG("slot", "no stack at %#lx", (unsigned long)*rsp);
	if (at >= SCRATCH_LEA + SCRATCH_PUSH && at < d->done_at + SCRATCH_POP)
		*rsp += SCRATCH_STACK;
	else if (at >= SCRATCH_LEA && at <= d->done_at + SCRATCH_POP)
		*rsp += RED_ZONE;
	return at >= d->done_at ? SLOT_AFTER : SLOT_BEFORE;
}

/*
 * The return address has been pushed, and the jump is next: it is done here.
 * If it would fault, the push is undone instead, so that the call faults at its
 * own place.
 */
static enum slot_place
finish_call(struct uregs *regs, const uint64_t *to)
{
	if (to != NULL && canonical(*to)) {
		regs->r[UREG_RIP] = *to;
		return SLOT_AFTER;
	}
	regs->r[UREG_RSP] += 8;
	return SLOT_BEFORE;
}

/* A call through memory: undo its pushes, but for the last. */
static enum slot_place
leave_call_mem(const struct displaced *d, struct target *t, unsigned at,
    struct uregs *regs)
{
	unsigned push = d->insn.len, lea = push + FETCH_PUSH;
	uint64_t *rsp = &regs->r[UREG_RSP], to;

	if (at >= lea + FETCH_LEA + RET_PUSH)
		return finish_call(
		    regs, t->ops->read(t, *rsp - 8, &to, 8) == 0 ? &to : NULL);
	if (at >= lea && at < lea + FETCH_LEA)
		*rsp += 16;
	else if (at >= push && at < lea)
		*rsp += 8;
	return SLOT_BEFORE;
}

uint64_t
displaced_text_pc(const struct displaced *d, unsigned at)
{
	if (at == 0 || at < d->done_at)
		return d->insn.addr;
	switch ((enum displaced_how)d->how) {
	case DISP_CALL:
		return d->insn.kind == INSN_CALL ? d->insn.target :
						   d->insn.addr;
	case DISP_COPY:
	case DISP_SYSCALL:
	case DISP_SCRATCH: return next_of(d);
	case DISP_CALL_MEM:
	case DISP_LEAP:
	case DISP_EMULATE:
	case DISP_OWN_TRAP:
	case DISP_REFUSE: break;
	}
	return d->insn.addr;
}

enum slot_place
displaced_leave(const struct displaced *d, struct target *t, unsigned at,
    struct uregs *regs)
{
	bool after = at != 0 && at >= d->done_at;

	regs->r[UREG_RIP] = displaced_text_pc(d, at);
	switch ((enum displaced_how)d->how) {
	case DISP_SCRATCH: return leave_scratch(d, t, at, regs);
	case DISP_CALL_MEM: return leave_call_mem(d, t, at, regs);
	case DISP_CALL:
		if (after && d->insn.kind != INSN_CALL)
			return finish_call(regs, &regs->r[d->insn.reg]);
		break;
	case DISP_SYSCALL:
		if (after)
			regs->r[UREG_RCX] = next_of(d);
		break;
	case DISP_LEAP: return SLOT_BEFORE;
	case DISP_COPY:
	case DISP_EMULATE:
	case DISP_OWN_TRAP:
	case DISP_REFUSE: break;
	}
	return after ? SLOT_AFTER : SLOT_BEFORE;
}
