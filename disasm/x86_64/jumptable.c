/*
 * Jump tables, as compilers write the jump through them:
 *
 *	jmp	[table + index * 8]
 *
 *	mov	r, [table + index * 8]
 *	jmp	r
 *
 *	lea	t, [rip + table]
 *	movsxd	r, dword ptr [t + index * 4]
 *	add	r, t				or: add t, r; jmp t
 *	jmp	r
 *
 * with other instructions between.  Wherever `table' stands it may be a
 * register that a lea or a mov has given a constant.
 *
 * The invariant: of an instruction between it is known which general register
 * it writes; one of which it is not ends the search.
 */
#include "disasm/jumptable.h"

#include "disasm/x86_64/raw.h"
#include "dlang/base/base.h"
#include "dlang/uregs.h"

#define NOTHING INSN_NOREG /* writes no general register */
#define UNKNOWN 0xfe

/* The operand of the ModRM byte as a register that is written, or memory. */
static uint8_t
rm_written(const struct raw *r)
{
	return raw_mod(r) == 3 ? raw_uregs[raw_rm(r)] : NOTHING;
}

/* Without a REX prefix, 4 to 7 mean ah to bh. */
static bool
is_high_byte(const struct raw *r, unsigned reg)
{
	return (r->rex & 0x40) == 0 && reg >= 4 && reg < 8;
}

/* add, or, ... cmp: 00 to 3f */
static uint8_t
arith_written(const struct raw *r)
{
	bool small = (r->opcode & 1) == 0;
	unsigned reg = r->opcode & 2 ? raw_reg(r) : raw_rm(r);

	if (r->opcode >= 0x38)
		return NOTHING;
	switch (r->opcode & 7) {
	case 0 ... 3:
		if (!(r->opcode & 2) && raw_mod(r) != 3)
			return NOTHING;
		return small && is_high_byte(r, reg) ? UNKNOWN : raw_uregs[reg];
	case 4:
	case 5: return raw_uregs[0];
	default: return UNKNOWN;
	}
}

static uint8_t
map0_written(const struct raw *r)
{
	unsigned low = (r->opcode & 7) | ((r->rex & RAW_B) ? 8U : 0U);

	switch (r->opcode) {
	case 0x00 ... 0x3f: return arith_written(r);
	case 0x50 ... 0x57: /* push */
	case 0x68:
	case 0x6a:
	case 0x70 ... 0x7f: /* conditional jumps: not taken */
	case 0x84 ... 0x85: /* test */
	case 0xa8 ... 0xa9: return NOTHING;
	case 0xc9: return UREG_RBP; /* leave */
	case 0x58 ... 0x5f:         /* pop */
	case 0xb8 ... 0xbf: return raw_uregs[low];
	case 0x63:
	case 0x69:
	case 0x6b:
	case 0x8b:
	case 0x8d: return raw_uregs[raw_reg(r)];
	case 0x81:
	case 0x83: return raw_reg3(r) == 7 ? NOTHING : rm_written(r);
	case 0x88:
	case 0xc6: return raw_mod(r) == 3 ? UNKNOWN : NOTHING;
	case 0x80:
		return raw_reg3(r) == 7 || raw_mod(r) != 3 ? NOTHING : UNKNOWN;
	case 0x90: return (r->rex & RAW_B) ? UNKNOWN : NOTHING;
	case 0x98: return raw_uregs[0]; /* sign extension */
	case 0x99: return raw_uregs[2];
	case 0x89:
	case 0xc1:
	case 0xc7:
	case 0xd1:
	case 0xd3: return rm_written(r);
	case 0xf6:
	case 0xf7: return raw_reg3(r) < 2 ? NOTHING : UNKNOWN;
	case 0xff: return raw_reg3(r) < 2 ? rm_written(r) : UNKNOWN;
	default: return UNKNOWN;
	}
}

static uint8_t
map1_written(const struct raw *r)
{
	switch (r->opcode) {
	case 0x0d: /* prefetches, nops, moves to and between vectors */
	case 0x10 ... 0x11:
	case 0x18:
	case 0x1e ... 0x1f:
	case 0x28 ... 0x29:
	case 0x2e ... 0x2f:
	case 0x6e ... 0x6f:
	case 0x7f:
	case 0x80 ... 0x8f:
	case 0xa3:
	case 0xd6:
	case 0xef: return NOTHING;
	case 0x40 ... 0x4f: /* cmov, imul, zero and sign extension, bit scans */
	case 0xaf:
	case 0xb6 ... 0xb7:
	case 0xbc ... 0xbf: return raw_uregs[raw_reg(r)];
	case 0xba: return raw_reg3(r) == 4 ? NOTHING : rm_written(r);
	case 0x90 ... 0x9f: return raw_mod(r) == 3 ? UNKNOWN : NOTHING;
	default: return UNKNOWN;
	}
}

static uint8_t
written(const struct insn *insn, struct raw *r)
{
	if (raw_decode(insn->bytes, insn->len, r) != 0 || r->enc != RAW_LEGACY)
		return UNKNOWN;
	return r->map == 0 ? map0_written(r) :
	    r->map == 1    ? map1_written(r) :
			     UNKNOWN;
}

/* Which of the first n instructions has set reg last?  n: none, or it is not
 * known. */
static size_t
giver(const struct insn *w, size_t n, uint8_t reg, struct raw *r)
{
	for (size_t i = n; i-- > 0;) {
		uint8_t got = written(&w[i], r);

		if (got == reg)
			return i;
		if (got == UNKNOWN)
			break;
	}
	return n;
}

bool
insn_gives_constant(const struct insn *in, uint8_t reg, uint64_t *value)
{
	uint8_t to;
	struct raw r;

	if (in->kind == INSN_LEA && in->rip_relative && in->opsize == 8 &&
	    written(in, &r) == reg) {
		*value = in->addr + in->len + (uint64_t)(int64_t)in->disp;
		return true;
	}
	return insn_constant(in, &to, value) && to == reg;
}

/* The constant in reg after the first n instructions. */
static bool
constant(const struct insn *w, size_t n, uint8_t reg, struct jumptable *out)
{
	struct raw r;

	while (n > 0) {
		size_t i = giver(w, n, reg, &r);
		const struct insn *in = &w[i];

		if (i == n)
			return false;
		out->since = in->addr;
		if (insn_gives_constant(in, reg, &out->addr))
			return true;
		if (in->kind != INSN_MOV_REG || in->opsize != 8)
			return false;
		reg = in->reg2;
		n = i;
	}
	return false;
}

/* [table + index * scale], used by the instruction. */
static bool
operand(const struct insn *in, unsigned scale, struct jumpbase *table)
{
	if (!in->mem || in->rip_relative || in->segment != 0 ||
	    in->addrsize != 8 || in->index == INSN_NOREG || in->scale != scale)
		return false;
	*table = (struct jumpbase){ in->base, in->addr,
		(uint64_t)(int64_t)in->disp };
	return true;
}

/* w[n] adds the base and the distance, which is in `dist'. */
static bool
distance(const struct insn *w, size_t n, uint8_t dist, uint8_t from,
    struct jumpshape *shape)
{
	struct raw r;
	size_t i = giver(w, n, dist, &r);

	if (i == n || r.map != 0 || r.opcode != 0x63 || !(r.rex & RAW_W) ||
	    !operand(&w[i], 4, &shape->table))
		return false;
	shape->relative = true;
	shape->from = (struct jumpbase){ from, w[n].addr, 0 };
	return true;
}

bool
jumptable_shape(const struct insn *w, size_t n, struct jumpshape *shape)
{
	const struct insn *jump = &w[n - 1];
	struct raw r;

	*shape = (struct jumpshape){ .from = { .reg = INSN_NOREG } };
	if (jump->mem)
		return operand(jump, 8, &shape->table);
	size_t i = giver(w, n - 1, jump->reg, &r);
	if (i == n - 1 || r.map != 0 || !(r.rex & RAW_W))
		return false;
	if (r.opcode == 0x8b)
		return operand(&w[i], 8, &shape->table);
	if ((r.opcode != 0x01 && r.opcode != 0x03) || raw_mod(&r) != 3)
		return false;
	uint8_t a = raw_uregs[raw_rm(&r)], b = raw_uregs[raw_reg(&r)];
	return distance(w, i, a, b, shape) || distance(w, i, b, a, shape);
}

/* The address, if w sets its register; *since is then that instruction, if it
 * comes before. */
static bool
known_base(const struct insn *w, size_t n, const struct jumpbase *b,
    uint64_t *addr, uint64_t *since)
{
	struct jumptable found = { .addr = 0, .since = b->at };

	while (n > 0 && w[n - 1].addr != b->at)
		n--;
	if (n == 0 ||
	    (b->reg != INSN_NOREG && !constant(w, n - 1, b->reg, &found)))
		return false;
	*addr = found.addr + b->add;
	*since = MIN(*since, found.since);
	return true;
}

bool
jumptable_find(const struct insn *w, size_t n, const struct jumpshape *shape,
    struct jumptable *out)
{
	*out = (struct jumptable){ .relative = shape->relative,
		.since = w[n - 1].addr };
	return known_base(w, n, &shape->table, &out->addr, &out->since) &&
	    (!shape->relative ||
		known_base(w, n, &shape->from, &out->base, &out->since));
}

/* What its operand in memory is. */
static enum giving
operand_gives(const struct insn *in)
{
	if (!in->mem || in->segment != 0 || in->addrsize != 8 ||
	    in->base == UREG_RSP)
		return GIVES_ELSE;
	return in->base == UREG_RBP ? GIVES_FRAMED : GIVES_WORD;
}

/* Does a called function leave the register as it was? */
static bool
is_kept(uint8_t reg)
{
	return reg == UREG_RBX || reg == UREG_RBP || reg == UREG_R12 ||
	    reg == UREG_R13 || reg == UREG_R14 || reg == UREG_R15;
}

enum giving
insn_gives(const struct insn *in, uint8_t *reg)
{
	struct raw r;
	uint8_t got = written(in, &r);

	if ((in->kind == INSN_CALL || in->kind == INSN_CALL_IND) &&
	    is_kept(*reg))
		return GIVES_NOTHING;
	if (got != *reg)
		return got == UNKNOWN ? GIVES_ELSE : GIVES_NOTHING;
	if (in->kind == INSN_MOV_REG && in->opsize == 8) {
		*reg = in->reg2;
		return GIVES_COPY;
	}
	if (in->kind == INSN_LEA && in->rip_relative && in->opsize == 8)
		return GIVES_WORD;
	return r.map == 0 && r.opcode == 0x8b && (r.rex & RAW_W) ?
	    operand_gives(in) :
	    GIVES_ELSE;
}

enum giving
insn_jumps_by(const struct insn *in, uint8_t *reg)
{
	if (in->mem)
		return operand_gives(in);
	*reg = in->reg;
	return GIVES_COPY;
}

bool
insn_is_argument(uint8_t reg)
{
	return reg == UREG_RDI || reg == UREG_RSI || reg == UREG_RDX ||
	    reg == UREG_RCX || reg == UREG_R8 || reg == UREG_R9;
}
