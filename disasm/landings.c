/*
 * Landings; see landings.h.
 */
#include "disasm/landings.h"

#include "disasm/insn.h"
#include "dlang/base/mem.h"

void
landings_init(struct landings *l, uint64_t start, uint64_t end)
{
	size_t size = (end - start) / 8 + 1;

	*l =
	    (struct landings){ start, end, mem_zalloc(size), mem_zalloc(size) };
}

void
landings_fini(struct landings *l)
{
	mem_free(l->bits);
	mem_free(l->named);
	*l = (struct landings){ 0 };
}

void
landings_add(struct landings *l, uint64_t addr, bool named)
{
	uint64_t at = addr - l->start;
	const uint8_t bit = (uint8_t)(1U << at % 8);

	if (addr < l->start || addr >= l->end)
		return;
	l->bits[at / 8] |= bit;
	if (named)
		l->named[at / 8] |= bit;
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
	case INSN_XSTATE: landings_add(l, in->target, false); break;
	default:
		if (insn_names(in, low, &addr))
			landings_add(l, addr, true);
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

/* Is a bit set for an address behind `from' and before `to'? */
static bool
is_any(
    const struct landings *l, const uint8_t *bits, uint64_t from, uint64_t to)
{
	for (uint64_t at = from + 1; at < to; at++)
		if (at >= l->start && at < l->end &&
		    (bits[(at - l->start) / 8] >> (at - l->start) % 8 & 1))
			return true;
	return false;
}

bool
landings_between(const struct landings *l, uint64_t from, uint64_t to)
{
	return is_any(l, l->bits, from, to);
}

bool
landings_named(const struct landings *l, uint64_t from, uint64_t to)
{
	return is_any(l, l->named, from, to);
}
