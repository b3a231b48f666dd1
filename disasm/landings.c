/*
 * Landings; see landings.h.
 */
#include "disasm/landings.h"

#include "disasm/insn.h"
#include "dlang/base/mem.h"

void
landings_init(struct landings *l, uint64_t start, uint64_t end)
{
	*l = (struct landings){ start, end, mem_zalloc((end - start) / 8 + 1) };
}

void
landings_fini(struct landings *l)
{
	mem_free(l->bits);
	*l = (struct landings){ 0 };
}

void
landings_add(struct landings *l, uint64_t addr)
{
	uint64_t at = addr - l->start;

	if (addr >= l->start && addr < l->end)
		l->bits[at / 8] |= (uint8_t)(1U << at % 8);
}

static void
add_insn(struct landings *l, const struct insn *in, bool low)
{
	uint64_t addr;

	switch (in->kind) {
	case INSN_JMP:
	case INSN_JCC:
	case INSN_LOOP:
	case INSN_CALL:
	case INSN_XSTATE: landings_add(l, in->target); break;
	default:
		if (insn_names(in, low, &addr))
			landings_add(l, addr);
		break;
	}
}

void
landings_add_code(struct landings *l, const uint8_t *code, size_t size,
    uint64_t addr, bool known, bool low)
{
	struct insn in;

	for (size_t at = 0; at < size;) {
		bool is =
		    insn_decode(code + at, size - at, addr + at, &in) == 0;
		if (is)
			add_insn(l, &in, low);
		known &= is;
		at += known ? in.len : 1;
	}
}

bool
landings_between(const struct landings *l, uint64_t from, uint64_t to)
{
	for (uint64_t at = from + 1; at < to; at++)
		if (at >= l->start && at < l->end &&
		    (l->bits[(at - l->start) / 8] >> (at - l->start) % 8 & 1))
			return true;
	return false;
}
