/*
 * Writes instructions.  A full buffer is a bug in the caller's sizes; a target
 * cannot cause it.
 */
#include "dlang/base/x86_64/emit.h"

#include <string.h>

#include "dlang/base/base.h"

bool
emit_reaches(uint64_t from, uint64_t to)
{
	int64_t d = (int64_t)(to - from);

	return d == (int32_t)d;
}

void
emit_bytes(struct emit *e, const void *p, size_t n)
{
	ASSERT(n <= e->size - e->len);
	memcpy(e->buf + e->len, p, n);
	e->len += n;
}

void
emit_u8(struct emit *e, unsigned b)
{
	uint8_t v = (uint8_t)b;

	emit_bytes(e, &v, 1);
}

static void
emit_with_reg(struct emit *e, unsigned opcode, unsigned reg)
{
	if (reg >= R8)
		emit_u8(e, 0x41);
	emit_u8(e, opcode | (reg & 7));
}

void
emit_push(struct emit *e, unsigned reg)
{
	emit_with_reg(e, 0x50, reg);
}

void
emit_pop(struct emit *e, unsigned reg)
{
	emit_with_reg(e, 0x58, reg);
}

void
emit_u32(struct emit *e, uint32_t v)
{
	emit_bytes(e, &v, 4);
}

void
emit_u64(struct emit *e, uint64_t v)
{
	emit_bytes(e, &v, 8);
}

void
emit_patch_rel32(struct emit *e, size_t at, size_t end, uint64_t to)
{
	uint64_t from = e->addr + end;
	int32_t rel = (int32_t)(to - from);

	ASSERT(emit_reaches(from, to) && at + 4 <= e->len);
	memcpy(e->buf + at, &rel, 4);
}

void
emit_jmp(struct emit *e, uint64_t to)
{
	if (emit_reaches(emit_pc(e) + EMIT_JMP_NEAR, to)) {
		emit_u8(e, 0xe9);
		emit_u32(e, (uint32_t)(to - (emit_pc(e) + 4)));
		return;
	}
	/* jmp qword ptr [rip + 0] */
	emit_bytes(e, "\xff\x25\x00\x00\x00\x00", 6);
	emit_u64(e, to);
}
