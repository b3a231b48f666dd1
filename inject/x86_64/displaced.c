/*
 * x86-64's part of displacing: which instructions are emulated, copied or
 * rewritten, and the code of their slots.
 *
 *	COPY	insn				SYSCALL	0f 05
 *		jmp next				lea rcx, [next]
 *							jmp next
 *	CALL	push qword ptr [ret]
 *		jmp target			LEAP	insn
 *	ret:	.quad next
 *
 *	CALL_MEM push operand			reads before it writes
 *		push qword ptr [rsp]		the target, 16 below
 *		lea rsp, [rsp + 16]
 *		push qword ptr [ret]
 *		jmp qword ptr [rsp - 8]
 *	ret:	.quad next
 *
 *	SCRATCH	lea rsp, [rsp - 128]		the red zone is the program's
 *		push r
 *		movabs r, address of the data
 *		insn with [r] for [rip + x]	-> begun_at
 *		pop r				-> done_at
 *		lea rsp, [rsp + 128]
 *		jmp next
 *
 * None of the added instructions changes a flag.  A return address is pushed
 * from memory in one instruction, so that there is never half of one.  Targets
 * are jumped to, not called: a return address in a slot would be seen by
 * unwinders and would outlive the slot.
 *
 * A call through memory reads its operand, which may be relative to rsp or lie
 * below it, and may fault there, before anything is pushed.  push does these
 * two in the same order and with the same addresses, so it stands for the call
 * until the target is in hand.  It is kept where the callee's red zone will
 * be.
 */
#include "inject/displaced.h"

#include <errno.h>
#include <string.h>

#include "dlang/base/base.h"
#include "dlang/base/x86_64/emit.h"
#include "dlang/uregs.h"
#include "inject/slot.h"

/* insn.h uses the numbers of enum ureg without including it. */
static_assert(UREG_RAX == 10 && UREG_RCX == 11 && UREG_RDX == 12 &&
	UREG_RBX == 5 && UREG_RSP == 19 && UREG_RBP == 4 && UREG_RSI == 13 &&
	UREG_RDI == 14 && UREG_R8 == 9 && UREG_R9 == 8 && UREG_R10 == 7 &&
	UREG_R11 == 6 && UREG_R12 == 3 && UREG_R13 == 2 && UREG_R14 == 1 &&
	UREG_R15 == 0,
    "disasm/x86_64/kind.c has these numbers");

/* Short of 2 GiB by more than a slot, so that any byte of it reaches. */
#define REACH    ((UINT64_C(1) << 31) - 4096)

#define PUSH_LEN 6 /* push qword ptr [rip + disp32] */

/* push qword ptr [rsp]; lea rsp, [rsp + 16] */
#define FETCH_TAIL 8

/* clang-format off */
static const struct {
	uint8_t reg, mem; /* enum displaced_how */
} rules[] = {
#define RULE(kind, reg, mem) [INSN_##kind] = { DISP_##reg, DISP_##mem },
#include "inject/machine/rules.def"
#undef RULE
};
/* clang-format on */

static uint64_t
next_of(const struct displaced *d)
{
	return d->insn.addr + d->insn.len;
}

/* The address of a rip-relative operand. */
static uint64_t
data_of(const struct displaced *d)
{
	return next_of(d) + (uint64_t)(int64_t)d->insn.disp;
}

/* Does the call have to fetch its target before the return address is pushed?
 * Only a register other than rsp outlives the push. */
static bool
fetches(const struct insn *insn)
{
	return insn->kind == INSN_CALL_IND &&
	    (insn->mem || insn->reg == UREG_RSP);
}

/* Slot bytes for the plan, when everything is as near as the window says, or
 * (far) when nothing is. */
static unsigned
slot_size(const struct displaced *d, bool far)
{
	unsigned jmp = far ? EMIT_JMP_FAR : EMIT_JMP_NEAR;

	switch ((enum displaced_how)d->how) {
	case DISP_COPY: return d->insn.len + jmp;
	case DISP_LEAP: return d->insn.len;
	/* The jump is as long as the call was, or one to anywhere. */
	case DISP_CALL:
		return PUSH_LEN + 8U +
		    (d->insn.kind == INSN_CALL ? EMIT_JMP_FAR : d->insn.len);
	case DISP_CALL_MEM: return d->insn.len + FETCH_TAIL + PUSH_LEN + 4 + 8;
	case DISP_SYSCALL: return d->insn.len + (far ? 10U : 7U) + jmp;
	case DISP_SCRATCH: return SLOT_SIZE_MAX;
	case DISP_EMULATE:
	case DISP_OWN_TRAP:
	case DISP_REFUSE: return 0;
	}
	return 0;
}

int
displaced_plan(struct displaced *d, const struct insn *insn, const char **why)
{
	memset(d, 0, sizeof(*d));
	d->insn = *insn;
	d->how = insn->mem ? rules[insn->kind].mem : rules[insn->kind].reg;
	if (fetches(insn))
		d->how = DISP_CALL_MEM;
	if (insn->refuse != NULL || d->how == DISP_REFUSE) {
		d->how = DISP_REFUSE;
		*why = insn->refuse != NULL ? insn->refuse :
					      "instruction not supported";
		return -EOPNOTSUPP;
	}
	d->size = (uint8_t)slot_size(d, false);
	return 0;
}

/* Narrow [lo, hi] to what reaches addr. */
static void
narrow(uint64_t addr, uint64_t *lo, uint64_t *hi)
{
	uint64_t first = addr > REACH ? addr - REACH : 0;
	uint64_t last = addr < UINT64_MAX - REACH ? addr + REACH : UINT64_MAX;

	*lo = MAX(*lo, first);
	*hi = MIN(*hi, last);
}

void
displaced_window(const struct displaced *d, uint64_t *lo, uint64_t *hi)
{
	*lo = 0;
	*hi = UINT64_MAX;
	if (d->how == DISP_SCRATCH)
		return;
	if (d->insn.rip_relative)
		narrow(data_of(d), lo, hi);
	/* The far size is told by displaced_go_far(). */
	if ((d->how == DISP_COPY || d->how == DISP_SYSCALL) &&
	    d->size == slot_size(d, false))
		narrow(next_of(d), lo, hi);
}

/* Is the ModRM's register one of ah, ch, dh, bh, that a REX would turn into
 * spl to dil?  `op' is insn.h's opcode, reg the field, without any REX. */
static bool
high_byte(unsigned op, unsigned reg)
{
	if (reg < 4 || (op & 1))
		return false;
	return op < 0x40 || op == 0x84 || op == 0x86 || op == 0x88 ||
	    op == 0x8a || op == 0x1b0 || op == 0x1c0;
}

/*
 * A register for the data's address.  r12 and r13 are encoded like rsp and rbp
 * and would need a longer form.  Without REX, ah to bh must not get one.
 */
static bool
pick_scratch(struct displaced *d)
{
	static const uint8_t candidates[] = { 8, 9, 10, 11, 14, 15 };
	const struct insn *insn = &d->insn;
	uint8_t lead = insn->bytes[insn->opcode_at];
	bool vex = lead == 0xc4 || lead == 0xc5 || lead == 0x62 || lead == 0x8f;
	bool rex = (lead & 0xf0) == 0x40;
	unsigned reg = insn->bytes[insn->modrm_at] >> 3 & 7;

	if (!insn->rip_relative || insn->addrsize != 8)
		return false;
	if (insn->gpr_used & (1U << 4)) /* rsp has another value in the slot */
		return false;
	if (!vex && !rex && high_byte(insn->opcode, reg))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(candidates); i++)
		if (!(insn->gpr_used & (1U << candidates[i]))) {
			d->scratch = candidates[i];
			return true;
		}
	return false;
}

bool
displaced_go_far(struct displaced *d)
{
	switch ((enum displaced_how)d->how) {
	case DISP_COPY:
		if (d->insn.rip_relative) {
			if (!pick_scratch(d))
				return false;
			d->how = DISP_SCRATCH;
		}
		break;
	case DISP_SYSCALL: break;
	case DISP_LEAP:
	case DISP_CALL:
	case DISP_CALL_MEM:
		if (!d->insn.rip_relative)
			return false; /* had no window to begin with */
		if (d->insn.kind != INSN_JMP_IND &&
		    d->insn.kind != INSN_CALL_IND)
			return false;
		d->how = DISP_EMULATE;
		break;
	case DISP_SCRATCH:
	case DISP_EMULATE:
	case DISP_OWN_TRAP:
	case DISP_REFUSE: return false;
	}
	d->size = (uint8_t)slot_size(d, true);
	return true;
}

/* Copy the instruction, and correct its rip-relative field. */
static void
write_copy(const struct displaced *d, struct emit *e)
{
	const struct insn *insn = &d->insn;
	size_t at = e->len;

	emit_bytes(e, insn->bytes, insn->len);
	if (insn->rip_relative)
		emit_patch_rel32(
		    e, at + insn->disp_at, at + insn->len, data_of(d));
}

/* ff /2 rewritten to another of group 5. */
static void
write_group5(const struct displaced *d, struct emit *e, unsigned reg)
{
	size_t modrm = e->len + d->insn.modrm_at;

	write_copy(d, e);
	e->buf[modrm] = (uint8_t)((e->buf[modrm] & ~0x38U) | reg << 3);
}

static void
write_call(struct displaced *d, struct emit *e)
{
	emit_bytes(e, "\xff\x35\x00\x00\x00\x00", PUSH_LEN);
	d->done_at = PUSH_LEN;
	if (d->insn.kind == INSN_CALL)
		emit_jmp(e, d->insn.target);
	else
		write_group5(d, e, 4);
	emit_patch_rel32(e, 2, PUSH_LEN, emit_pc(e));
	emit_u64(e, next_of(d));
}

static void
write_call_mem(struct displaced *d, struct emit *e)
{
	write_group5(d, e, 6);
	emit_bytes(e, "\xff\x34\x24", 3);
	emit_bytes(e, "\x48\x8d\x64\x24\x10", 5);
	size_t push = e->len;
	emit_bytes(e, "\xff\x35\x00\x00\x00\x00", PUSH_LEN);
	emit_bytes(e, "\xff\x64\x24\xf8", 4);
	emit_patch_rel32(e, push + 2, push + PUSH_LEN, emit_pc(e));
	emit_u64(e, next_of(d));
	/* Before the jump is done, the call is undone by displaced_leave(). */
	d->done_at = (uint8_t)e->len;
}

static void
write_syscall(struct displaced *d, struct emit *e)
{
	uint64_t next = next_of(d);

	emit_bytes(e, d->insn.bytes, d->insn.len);
	d->done_at = d->insn.len;
	if (emit_reaches(emit_pc(e) + 7, next)) {
		emit_bytes(e, "\x48\x8d\x0d\x00\x00\x00\x00", 7);
		emit_patch_rel32(e, e->len - 4, e->len, next);
	} else {
		emit_bytes(e, "\x48\xb9", 2); /* movabs rcx */
		emit_u64(e, next);
	}
	emit_jmp(e, next);
}

/* The instruction with [scratch] for [rip + disp32]; the four bytes of the
 * displacement go away. */
static void
write_through_scratch(const struct displaced *d, struct emit *e)
{
	const struct insn *insn = &d->insn;
	const uint8_t *b = insn->bytes;
	unsigned lead = b[insn->opcode_at], at = insn->opcode_at + 1U;

	emit_bytes(e, b, insn->opcode_at);
	switch (lead) {
	case 0xc5: /* c5 RvvvvLpp to c4 RXBmmmmm WvvvvLpp, B clear being r8+ */
		emit_u8(e, 0xc4);
		emit_u8(e, (b[at] & 0x80) | 0x40 | 1);
		emit_u8(e, b[at] & 0x7f);
		at++;
		break;
	case 0xc4:
	case 0x62:
	case 0x8f:
		emit_u8(e, lead);
		emit_u8(e, b[at] & ~0x20U);
		at++;
		break;
	default:
		if ((lead & 0xf0) == 0x40) {
			emit_u8(e, lead | 1);
		} else {
			emit_u8(e, 0x41);
			emit_u8(e, lead);
		}
	}
	emit_bytes(e, b + at, insn->modrm_at - at);
	emit_u8(e, (b[insn->modrm_at] & 0x38) | (d->scratch & 7U));
	emit_bytes(e, b + insn->disp_at + 4, insn->len - insn->disp_at - 4U);
}

static void
write_scratch(struct displaced *d, struct emit *e)
{
	unsigned r = d->scratch & 7;

	emit_bytes(e, "\x48\x8d\x64\x24\x80", 5); /* lea rsp, [rsp - 128] */
	emit_u8(e, 0x41);
	emit_u8(e, 0x50 | r);
	emit_u8(e, 0x49);
	emit_u8(e, 0xb8 | r);
	emit_u64(e, data_of(d));
	d->begun_at = (uint8_t)e->len;
	write_through_scratch(d, e);
	d->done_at = (uint8_t)e->len;
	emit_u8(e, 0x41);
	emit_u8(e, 0x58 | r);
	emit_bytes(e, "\x48\x8d\xa4\x24\x80\x00\x00\x00", 8);
	emit_jmp(e, next_of(d));
}

unsigned
displaced_write(struct displaced *d, uint64_t slot, uint8_t *buf)
{
	struct emit e = { .buf = buf, .size = SLOT_SIZE_MAX, .addr = slot };

	switch ((enum displaced_how)d->how) {
	case DISP_COPY:
		write_copy(d, &e);
		d->done_at = (uint8_t)e.len;
		emit_jmp(&e, next_of(d));
		break;
	case DISP_LEAP:
		write_copy(d, &e);
		d->done_at = (uint8_t)e.len; /* nobody gets there */
		break;
	case DISP_CALL: write_call(d, &e); break;
	case DISP_CALL_MEM: write_call_mem(d, &e); break;
	case DISP_SYSCALL: write_syscall(d, &e); break;
	case DISP_SCRATCH: write_scratch(d, &e); break;
	case DISP_EMULATE:
	case DISP_OWN_TRAP:
	case DISP_REFUSE: break;
	}
	ASSERT(e.len <= d->size);
	return (unsigned)e.len;
}
