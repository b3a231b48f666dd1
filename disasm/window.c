/*
 * Windows; see window.h.
 *
 * An instruction can be part of one if its copy, run elsewhere, does the same:
 * it must not look at its own address but by a displacement from it, and must
 * not leave its own address behind, as a call does.
 */
#include "disasm/window.h"

#include <errno.h>

/* Does control never reach the next instruction? */
static bool
is_end(const struct insn *in)
{
	return in->kind == INSN_RET || in->kind == INSN_JMP;
}

/* Does a copy at another address have the same effect? */
static bool
is_movable(const struct insn *in)
{
	if (in->refuse != NULL || !insn_agreed(in))
		return false;
	switch (in->kind) {
	case INSN_JMP_IND:
	case INSN_LOOP:
	case INSN_CALL:
	case INSN_CALL_IND:
	case INSN_XSTATE:
	case INSN_SYSCALL:
	case INSN_TRAP:
	case INSN_UD: return false;
	default: return true;
	}
}

/* Is it padding of assemblers: a nop or a trap? */
static bool
is_padding(const struct insn *in)
{
	return in->kind == INSN_TRAP || in->kind == INSN_NOP;
}

/* Does any jump lead to an address between `from' and `to'? */
static bool
is_come_to(const struct body *b, uint64_t from, uint64_t to)
{
	vec_foreach(at, &b->leads)
		if (*at > from && *at < to)
			return true;
	return false;
}

/* As many bytes as can be read at addr, up to an instruction's worth. */
static size_t
read_insn(const struct reader *mem, uint64_t addr, uint8_t *buf, uint64_t end)
{
	size_t len = addr < end ? MIN(end - addr, (uint64_t)INSN_MAX_LEN) : 0;

	return len > 0 && reader_read(mem, addr, buf, len) == 0 ? len : 0;
}

/* The number of padding bytes from addr on, in whole instructions and at least
 * `bytes'; 0: there are fewer. */
static unsigned
padding(const struct reader *mem, uint64_t addr, unsigned bytes, uint64_t end)
{
	uint8_t code[INSN_MAX_LEN];
	unsigned have = 0;
	struct insn in;

	while (have < bytes) {
		size_t len = read_insn(mem, addr + have, code, end);
		if (len == 0 || insn_decode(code, len, addr + have, &in) != 0 ||
		    !is_padding(&in) || !insn_agreed(&in))
			return 0;
		have += in.len;
	}
	return have;
}

static int
refuse(const char **why, const char *phrase)
{
	*why = phrase;
	return -EINVAL;
}

static const struct body_range *
range_of(const struct body *b, uint64_t addr)
{
	vec_foreach(r, &b->ranges)
		if (addr >= r->start && addr < r->end)
			return r;
	return NULL;
}

int
window_find(struct window *w, const struct body *b, const struct reader *mem,
    uint64_t limit, uint64_t addr, unsigned bytes, const char **why)
{
	const struct body_range *r = range_of(b, addr);
	uint64_t at = addr, need = addr + bytes;
	uint8_t code[INSN_MAX_LEN];

	*w = (struct window){ 0 };
	if (r == NULL || b->cut)
		return refuse(why,
		    "the code of the function is not known "
		    "completely");
	if (b->open)
		return refuse(why,
		    "the function has a jump whose target is "
		    "not known");
	while (at < need && !w->ends) {
		struct insn *in = &w->insn[w->n];
		if (at == r->end)
			return refuse(why, "the function is too short");
		size_t len = read_insn(mem, at, code, r->end);
		if (len == 0 || insn_decode(code, len, at, in) != 0)
			return refuse(why, "an instruction cannot be decoded");
		if (!is_movable(in))
			return refuse(why, "an instruction cannot be moved");
		w->n++;
		at += in->len;
		w->ends = is_end(in);
	}
	w->next = at;
	if (at < need) {
		unsigned more =
		    padding(mem, at, (unsigned)(need - at), MAX(limit, r->end));
		if (more == 0)
			return refuse(why, "too few bytes after the function");
		need = at + more;
	}
	if (is_come_to(b, addr, MAX(at, need)))
		return refuse(why,
		    "a jump leads into the bytes to be "
		    "replaced");
	return 0;
}
