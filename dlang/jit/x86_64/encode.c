/*
 * See encode.h.  Of several encodings of an instruction GNU as would choose the
 * same.
 */
#include "dlang/jit/x86_64/encode.h"

#define MOD_DISP8  0x40U
#define MOD_DISP32 0x80U
#define MOD_REG    0xc0U

static void
prefix(struct emit *e, bool wide, unsigned reg, unsigned rm)
{
	unsigned rex = 0x40U | (wide ? 8U : 0) | reg >> 3 << 2 | rm >> 3;

	if (rex != 0x40)
		emit_u8(e, rex);
}

static void
opcode(struct emit *e, unsigned op)
{
	if (op > 0xff)
		emit_u8(e, op >> 8);
	emit_u8(e, op & 0xff);
}

void
enc_rr(struct emit *e, bool wide, unsigned op, unsigned reg, unsigned rm)
{
	prefix(e, wide, reg, rm);
	opcode(e, op);
	emit_u8(e, MOD_REG | (reg & 7) << 3 | (rm & 7));
}

void
enc_rm(struct emit *e, bool wide, unsigned op, unsigned reg, unsigned base,
    int32_t disp)
{
	/* Without a displacement, rbp and r13 would mean something else. */
	unsigned mod = disp == 0 && (base & 7) != RBP ? 0 :
	    disp == (int8_t)disp                      ? MOD_DISP8 :
							MOD_DISP32;

	prefix(e, wide, reg, base);
	opcode(e, op);
	emit_u8(e, mod | (reg & 7) << 3 | (base & 7));
	if ((base & 7) == RSP)
		emit_u8(e, 0x24); /* no index */
	if (mod == MOD_DISP8)
		emit_u8(e, (uint8_t)disp);
	else if (mod == MOD_DISP32)
		emit_u32(e, (uint32_t)disp);
}

void
enc_ri8(
    struct emit *e, bool wide, unsigned op, unsigned more, unsigned rm, int v)
{
	enc_rr(e, wide, op, more, rm);
	emit_u8(e, (uint8_t)v);
}

void
enc_mi8(struct emit *e, bool wide, unsigned op, unsigned more, unsigned base,
    int32_t disp, int v)
{
	enc_rm(e, wide, op, more, base, disp);
	emit_u8(e, (uint8_t)v);
}

void
enc_mi32(struct emit *e, bool wide, unsigned op, unsigned more, unsigned base,
    int32_t disp, int32_t v)
{
	enc_rm(e, wide, op, more, base, disp);
	emit_u32(e, (uint32_t)v);
}

void
enc_set(struct emit *e, unsigned reg, uint64_t v)
{
	if (v == 0) {
		enc_rr(e, false, 0x31, reg, reg); /* xor */
	} else if (v <= UINT32_MAX) {
		prefix(e, false, 0, reg);
		emit_u8(e, 0xb8U | (reg & 7));
		emit_u32(e, (uint32_t)v);
	} else if ((int64_t)v == (int32_t)v) {
		enc_rr(e, true, 0xc7, 0, reg);
		emit_u32(e, (uint32_t)v);
	} else {
		prefix(e, true, 0, reg);
		emit_u8(e, 0xb8U | (reg & 7));
		emit_u64(e, v);
	}
}

void
enc_move_stack(struct emit *e, int32_t n)
{
	enc_rm(e, true, OP_LEA, RSP, RSP, n);
}
