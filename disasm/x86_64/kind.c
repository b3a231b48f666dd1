/*
 * From an encoding to the kinds that matter for displacing an instruction and
 * for finding the ends of a function.
 *
 * The invariant: what is not recognised here is INSN_PLAIN, and an instruction
 * is INSN_PLAIN only if running its bytes at another address, with the
 * rip-relative field corrected, does what it does at home.  Everything that
 * reads or writes rip otherwise has a row or a case of its own.
 */
#include "disasm/insn.h"

#include <string.h>

#include "disasm/x86_64/raw.h"
#include "dlang/uregs.h"

#define RAX (1U << 0)
#define RSP (1U << 4)
/* The registers that instructions use without naming them: the eight old ones
 * but for rsp, whose unnamed users are few and listed. */
#define IMPLICIT 0x00efU

/* inject/x86_64 asserts it. */
const uint8_t raw_uregs[16] = { 10, 11, 12, 5, 19, 4, 13, 14, 9, 8, 7, 6, 3, 2,
	1, 0 };

/* Does the instruction use rsp without naming it? */
static bool
uses_stack(const struct raw *r)
{
	if (r->enc != RAW_LEGACY)
		return false;
	uint8_t op = r->opcode;

	if (r->map == 1)
		return op == 0xa0 || op == 0xa1 || op == 0xa8 || op == 0xa9;
	if (r->map != 0)
		return false;
	if ((op & 0xf0) == 0x50 || op == 0x68 || op == 0x6a || op == 0x8f)
		return true;
	if (op == 0x9c || op == 0x9d || (op >= 0xc2 && op <= 0xc3) ||
	    (op >= 0xc8 && op <= 0xcf) || op == 0xe8)
		return true;
	return op == 0xff &&
	    (raw_reg3(r) == 2 || raw_reg3(r) == 3 || raw_reg3(r) == 6);
}

/* Opcodes whose ModRM.reg is a general register: not a vector, a mask, a
 * segment or more of the opcode. */
static bool
reg_is_general(const struct raw *r)
{
	uint8_t op = r->opcode;

	if (r->enc != RAW_LEGACY && r->map >= 8)
		return true; /* XOP: not worth a list */
	switch (r->map) {
	case 0:
		return op < 0x40 || op == 0x63 || op == 0x69 || op == 0x6b ||
		    (op >= 0x84 && op <= 0x8b) || op == 0x8d;
	case 1:
		if (op == 0x2c || op == 0x2d || op == 0x50 || op == 0xc5 ||
		    op == 0xd7 || op == 0x78 || op == 0x79)
			return true;
		if (r->enc != RAW_LEGACY)
			return op == 0x93;
		return op == 0x02 || op == 0x03 || (op & 0xfc) == 0x20 ||
		    (op & 0xf0) == 0x40 || (op >= 0xa3 && op <= 0xad) ||
		    (op >= 0xaf && op <= 0xc3 && op != 0xba && op != 0xc2);
	case 2: return op >= 0xf0;
	case 3: return op == 0xf0;
	case 5: return op == 0x2c || op == 0x2d || op == 0x78 || op == 0x79;
	default: return false;
	}
}

static uint16_t
registers_used(const struct raw *r)
{
	unsigned used = IMPLICIT;

	if (uses_stack(r))
		used |= RSP;
	if (r->enc != RAW_LEGACY && (r->vvvv != 4 || r->map == 2))
		used |= 1U << r->vvvv; /* general in BMI, map 2, only */
	if (r->enc == RAW_LEGACY && r->map == 1 &&
	    (r->opcode == 0x05 || r->opcode == 0x07 || r->opcode == 0x34))
		used |= 1U << 11;
	if (r->modrm_at == 0) {
		/* A register in the opcode's low bits. */
		used |= 1U << ((r->opcode & 7) | ((r->rex & RAW_B) ? 8U : 0U));
		return (uint16_t)used;
	}
	/* Over-estimated but for rsp, which would make the answer useless for
	 * every xmm4. */
	if (raw_reg(r) != 4 || reg_is_general(r))
		used |= 1U << raw_reg(r);
	if (raw_mod(r) == 3) {
		used |= 1U << raw_rm(r);
	} else if (r->has_sib) {
		unsigned x = (r->rex & RAW_X) ? 8 : 0;

		used |= 1U << ((r->sib & 7) | ((r->rex & RAW_B) ? 8U : 0U));
		if ((r->sib >> 3 & 7) != 4 || x != 0)
			used |= 1U << ((r->sib >> 3 & 7) | x);
	} else if (raw_mod(r) != 0 || raw_rm3(r) != 5) {
		used |= 1U << raw_rm(r);
	}
	return (uint16_t)used;
}

/* The memory operand in insn's terms. */
static void
set_memory(struct insn *insn, const struct raw *r)
{
	if (r->modrm_at == 0 || raw_mod(r) == 3)
		return;
	insn->mem = true;
	insn->disp = (int32_t)r->disp;
	insn->scale = 1;
	if (r->has_sib) {
		unsigned index =
		    (r->sib >> 3 & 7) | ((r->rex & RAW_X) ? 8U : 0U);
		unsigned base = (r->sib & 7) | ((r->rex & RAW_B) ? 8U : 0U);

		if (index != 4)
			insn->index = raw_uregs[index];
		insn->scale = (uint8_t)(1U << (r->sib >> 6));
		if ((r->sib & 7) != 5 || raw_mod(r) != 0)
			insn->base = raw_uregs[base];
	} else if (raw_mod(r) == 0 && raw_rm3(r) == 5) {
		/* mov to cr5 has such a ModRM, and no displacement */
		insn->rip_relative = r->disp_at != 0;
		insn->disp_at = r->disp_at;
	} else {
		insn->base = raw_uregs[raw_rm(r)];
	}
}

static void
refuse(struct insn *insn, enum insn_kind kind, const char *why)
{
	insn->kind = (uint8_t)kind;
	insn->refuse = why;
}

static void
set_branch(
    struct insn *insn, const struct raw *r, enum insn_kind kind, uint8_t cond)
{
	insn->kind = (uint8_t)kind;
	insn->cond = cond;
	insn->imm = 0;
	insn->target = insn->addr + r->len + (uint64_t)r->imm;
	if ((r->prefixes & RAW_OPSIZE) && !(r->rex & RAW_W))
		insn->refuse = "16-bit branch";
}

/* ff: call and jump through a register or memory, and their far forms. */
static void
classify_group5(struct insn *insn, const struct raw *r)
{
	switch (raw_reg3(r)) {
	case 2:
	case 4:
		insn->kind = raw_reg3(r) == 2 ? INSN_CALL_IND : INSN_JMP_IND;
		if (!insn->mem)
			insn->reg = raw_uregs[raw_rm(r)];
		if ((r->prefixes & RAW_OPSIZE) && !(r->rex & RAW_W))
			insn->refuse = "16-bit branch";
		break;
	case 3:
	case 5: refuse(insn, INSN_XSTATE, "far transfer"); break;
	}
}

/* mov between general registers; add and sub of a constant to rsp; lea. */
static void
classify_arith(struct insn *insn, const struct raw *r)
{
	bool reg_form = raw_mod(r) == 3;
	bool small = (r->prefixes & RAW_OPSIZE) && !(r->rex & RAW_W);

	insn->opsize = (r->rex & RAW_W) ? 8 : small ? 2 : 4;
	if (small || (r->prefixes & RAW_LOCK))
		return;
	switch (r->opcode) {
	case 0x89:
	case 0x8b:
		if (!reg_form)
			return;
		insn->kind = INSN_MOV_REG;
		insn->reg =
		    raw_uregs[r->opcode == 0x89 ? raw_rm(r) : raw_reg(r)];
		insn->reg2 =
		    raw_uregs[r->opcode == 0x89 ? raw_reg(r) : raw_rm(r)];
		break;
	case 0x8d:
		insn->kind = INSN_LEA;
		insn->reg = raw_uregs[raw_reg(r)];
		break;
	case 0x81:
	case 0x83:
		if (!reg_form || raw_rm(r) != 4 || insn->opsize != 8)
			return;
		if (raw_reg3(r) != 0 && raw_reg3(r) != 5)
			return;
		insn->kind = INSN_ADD_SP;
		insn->reg = raw_uregs[4];
		insn->imm = raw_reg3(r) == 0 ? r->imm : -r->imm;
		break;
	}
}

static void
classify_return(struct insn *insn, const struct raw *r)
{
	insn->kind = INSN_RET;
	insn->imm = r->imm & 0xffff;
	if ((r->prefixes & RAW_OPSIZE) && !(r->rex & RAW_W))
		insn->refuse = "16-bit return";
}

/* push and pop of a register: 50 to 5f */
static void
classify_push(struct insn *insn, const struct raw *r)
{
	insn->reg = raw_uregs[(r->opcode & 7) | ((r->rex & RAW_B) ? 8U : 0U)];
	insn->opsize = 8;
	if (r->prefixes & RAW_OPSIZE)
		insn->opsize = 2;
	else
		insn->kind = r->opcode < 0x58 ? INSN_PUSH_REG : INSN_POP_REG;
}

static void
classify_map0(struct insn *insn, const struct raw *r)
{
	static const uint8_t loops[4] = { LOOP_LOOPNE, LOOP_LOOPE, LOOP_LOOP,
		LOOP_JCXZ };
	uint8_t op = r->opcode;

	switch (op) {
	case 0x50 ... 0x5f: classify_push(insn, r); break;
	case 0x70 ... 0x7f: set_branch(insn, r, INSN_JCC, op & 15); break;
	case 0x81:
	case 0x83:
	case 0x89:
	case 0x8b:
	case 0x8d: classify_arith(insn, r); break;
	case 0x90:
		if (!(r->rex & RAW_B))
			insn->kind = INSN_NOP;
		break;
	case 0xc2:
	case 0xc3: classify_return(insn, r); break;
	case 0xc7:
		if (r->modrm != 0xf8)
			break;
		set_branch(insn, r, INSN_XSTATE, 0);
		insn->refuse = "transaction begin";
		break;
	case 0xc9:
		if (!(r->prefixes & RAW_OPSIZE))
			insn->kind = INSN_LEAVE;
		break;
	case 0xca:
	case 0xcb: refuse(insn, INSN_XSTATE, "far return"); break;
	case 0xcc: insn->kind = INSN_TRAP; break;
	case 0xcd:
	case 0xf1: refuse(insn, INSN_XSTATE, "software interrupt"); break;
	case 0xcf: refuse(insn, INSN_XSTATE, "interrupt return"); break;
	case 0xe0 ... 0xe3:
		set_branch(insn, r, INSN_LOOP, loops[op & 3]);
		break;
	case 0xe8: set_branch(insn, r, INSN_CALL, 0); break;
	case 0xe9:
	case 0xeb: set_branch(insn, r, INSN_JMP, 0); break;
	case 0xf4: refuse(insn, INSN_UD, "hlt"); break;
	case 0xff: classify_group5(insn, r); break;
	}
}

static void
classify_map1(struct insn *insn, const struct raw *r)
{
	switch (r->opcode) {
	case 0x01:
		if (r->modrm == 0xec && (r->prefixes & RAW_REP))
			refuse(insn, INSN_XSTATE, "user interrupt return");
		break;
	case 0x05: insn->kind = INSN_SYSCALL; break;
	case 0x07: refuse(insn, INSN_XSTATE, "sysret"); break;
	case 0x34: refuse(insn, INSN_XSTATE, "sysenter"); break;
	case 0x35: refuse(insn, INSN_XSTATE, "sysexit"); break;
	case 0x0b:
	case 0xb9:
	case 0xff: insn->kind = INSN_UD; break;
	case 0x1e:
		if ((r->prefixes & RAW_REP) && (r->modrm & 0xfe) == 0xfa)
			insn->kind = INSN_LANDING;
		break;
	case 0x1f:
		if (raw_reg3(r) == 0)
			insn->kind = INSN_NOP;
		break;
	case 0x80 ... 0x8f:
		set_branch(insn, r, INSN_JCC, r->opcode & 15);
		break;
	}
}

int
insn_decode(const uint8_t *code, size_t len, uint64_t addr, struct insn *insn)
{
	struct raw r;
	int err = raw_decode(code, len, &r);

	if (err != 0)
		return err;
	memset(insn, 0, sizeof(*insn));
	insn->addr = addr;
	insn->len = r.len;
	memcpy(insn->bytes, code, r.len);
	insn->opcode = (uint16_t)(r.map << 8 | r.opcode);
	insn->kind = INSN_PLAIN;
	insn->reg = insn->reg2 = INSN_NOREG;
	insn->base = insn->index = INSN_NOREG;
	insn->addrsize = (r.prefixes & RAW_ADDRSIZE) ? 4 : 8;
	insn->segment = r.segment;
	insn->imm = r.imm;
	insn->opcode_at = r.opcode_at;
	insn->modrm_at = r.modrm_at;
	insn->gpr_used = registers_used(&r);
	set_memory(insn, &r);
	if (r.enc == RAW_LEGACY && r.map == 0)
		classify_map0(insn, &r);
	else if (r.enc == RAW_LEGACY && r.map == 1)
		classify_map1(insn, &r);
	if (insn->rip_relative && insn->addrsize == 4 &&
	    insn->kind != INSN_NOP && insn->kind != INSN_LEA &&
	    insn->refuse == NULL)
		insn->refuse = "32-bit pc-relative operand";
	return 0;
}

bool
insn_constant(const struct insn *insn, uint8_t *reg, uint64_t *value)
{
	const uint8_t *at = insn->bytes + insn->opcode_at;
	uint8_t rex = (*at & 0xf0) == 0x40 ? *at++ : 0;
	bool wide = (rex & RAW_W) != 0;

	if (insn->kind != INSN_PLAIN || insn->opcode_at != 0)
		return false;
	if (insn->opcode == 0xc7 && (at[1] & 0xf8) == 0xc0)
		*reg = at[1] & 7;
	else if (insn->opcode >= 0xb8 && insn->opcode <= 0xbf)
		*reg = insn->opcode & 7;
	else
		return false;
	*reg = raw_uregs[*reg | ((rex & RAW_B) ? 8 : 0)];
	*value = wide ? (uint64_t)insn->imm : (uint32_t)insn->imm;
	return true;
}

bool
insn_names(const struct insn *insn, bool low, uint64_t *addr)
{
	int32_t last;

	if (insn->kind == INSN_LEA && insn->rip_relative) {
		*addr = insn->addr + insn->len + (uint64_t)(int64_t)insn->disp;
		return true;
	}
	if (!low || insn->len < 5 || insn->rip_relative)
		return false;
	memcpy(&last, insn->bytes + insn->len - 4, 4);
	*addr = (uint64_t)last;
	return last > 0;
}

bool
insn_goes_by_word(const struct insn *insn)
{
	return insn->mem && insn->rip_relative;
}

bool
insn_is_pause(const struct insn *insn)
{
	return insn->kind == INSN_NOP && insn->opcode == 0x90 &&
	    insn->opcode_at > 0 && insn->bytes[insn->opcode_at - 1] == 0xf3;
}

bool
insn_is_unwound(const struct insn *insn)
{
	return insn->kind == INSN_MOV_REG && insn->reg == UREG_RSP &&
	    insn->reg2 == UREG_RCX;
}

bool
insn_lays_frame(const struct insn *insn)
{
	if (insn->reg != UREG_RBP)
		return insn->bytes[0] == 0xc8; /* enter */
	return (insn->kind == INSN_MOV_REG && insn->reg2 == UREG_RSP) ||
	    (insn->kind == INSN_LEA && insn->base == UREG_RSP);
}
