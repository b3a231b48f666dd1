/*
 * Windows; see window.h.
 *
 * An instruction can be part of one if its copy, run elsewhere, does the same:
 * it must not look at its own address but by a displacement from it, and must
 * not leave its own address behind.  A call is replaced by a push of the address
 * behind it and a jump.
 */
#include "disasm/window.h"

#include <errno.h>

/* Does control never reach the next instruction? */
static bool
is_end(const struct insn *in)
{
	return in->kind == INSN_RET || in->kind == INSN_JMP ||
	    in->kind == INSN_JMP_IND;
}

/* Does a copy at another address have the same effect? */
static bool
is_movable(const struct insn *in)
{
	if (in->refuse != NULL || !insn_agreed(in))
		return false;
	switch (in->kind) {
	case INSN_LOOP:
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

/* Decode the next instruction of w, at addr.  A call must end the window, which it
 * does from `need' on.  NULL, or why it cannot be part of a window. */
static const char *
add(struct window *w, const struct reader *mem, uint64_t addr, uint64_t end,
    uint64_t need)
{
	struct insn *in = &w->insn[w->n];
	uint8_t code[INSN_MAX_LEN];
	size_t len = w->n < WINDOW_MOST ? read_insn(mem, addr, code, end) : 0;

	if (len == 0 || insn_decode(code, len, addr, in) != 0)
		return "an instruction cannot be decoded";
	if (!is_movable(in) || (in->kind == INSN_CALL && addr + in->len < need))
		return "an instruction cannot be moved";
	/* An indirect jump may lead there. */
	if (in->kind == INSN_LANDING && w->n > 0)
		return "a jump leads into the bytes to be replaced";
	w->n++;
	w->next = addr + in->len;
	w->ends = is_end(in);
	return NULL;
}

/* Find a window that begins at addr. */
static const char *
look_ahead(struct window *w, const struct body *b, const struct body_range *r,
    const struct reader *mem, uint64_t limit, uint64_t addr, unsigned bytes)
{
	uint64_t need = addr + bytes;
	const char *why = NULL;

	*w = (struct window){ .next = addr };
	while (why == NULL && w->next < need && !w->ends)
		why = w->next == r->end ? "the function is too short" :
					  add(w, mem, w->next, r->end, need);
	if (why != NULL)
		return why;
	if (w->next < need) {
		unsigned more = padding(mem, w->next,
		    (unsigned)(need - w->next), MAX(limit, r->end));
		if (more == 0)
			return "too few bytes after the function";
		need = w->next + more;
	}
	return is_come_to(b, addr, MAX(w->next, need)) ?
	    "a jump leads into the bytes to be replaced" :
	    NULL;
}

/* The begin of the instruction before the one at addr; or addr. */
static uint64_t
one_before(const struct body *b, const struct body_range *r, uint64_t addr)
{
	for (uint64_t at = addr; at > r->start && addr - at < INSN_MAX_LEN;)
		if (body_begins(b, --at))
			return at;
	return addr;
}

/* No call ends it. */
#define NO_CALL UINT64_MAX

/* Find a window that ends behind the instruction at addr. */
static bool
look_back(struct window *w, const struct body *b, const struct body_range *r,
    const struct reader *mem, uint64_t addr, unsigned bytes)
{
	uint64_t from = addr, last;

	*w = (struct window){ 0 };
	if (add(w, mem, addr, r->end, NO_CALL) != NULL)
		return false;
	const uint64_t end = w->next;
	do {
		last = from;
		from = one_before(b, r, from);
	} while (from != last && end - from < bytes);
	if (from == last)
		return false;
	*w = (struct window){ .next = from };
	while (w->next < addr)
		if (w->ends || add(w, mem, w->next, r->end, NO_CALL) != NULL)
			return false;
	w->site = w->n;
	return !w->ends && w->next == addr &&
	    add(w, mem, addr, r->end, NO_CALL) == NULL &&
	    !is_come_to(b, from, end);
}

/* Does control never come from the instruction that ends at `end' to what follows? */
static bool
is_end_at(const struct body *b, const struct reader *mem, uint64_t end)
{
	const struct body_range *r = range_of(b, end - 1);
	uint8_t code[INSN_MAX_LEN];
	struct insn in;

	if (r == NULL || r->end != end)
		return false;
	uint64_t at = one_before(b, r, end);
	size_t len = at < end ? read_insn(mem, at, code, end) : 0;
	return len > 0 && insn_decode(code, len, at, &in) == 0 &&
	    insn_agreed(&in) && at + in.len == end && is_end(&in);
}

bool
window_is_dead(
    const struct body *b, const struct reader *mem, uint64_t from, uint64_t to)
{
	uint8_t code[INSN_MAX_LEN];
	bool was_byte = false;
	struct insn in;

	if (b->cut || b->open || !is_end_at(b, mem, from) ||
	    is_come_to(b, from - 1, to))
		return false;
	while (from < to) {
		size_t len = read_insn(mem, from, code, to);
		if (len == 0 || insn_decode(code, len, from, &in) != 0 ||
		    !is_padding(&in) || !insn_agreed(&in))
			return false;
		bool is_byte = in.kind == INSN_NOP && in.len == 1;
		if (is_byte && was_byte)
			return false;
		was_byte = is_byte;
		from += in.len;
	}
	return true;
}

int
window_find(struct window *w, const struct body *b, const struct reader *mem,
    uint64_t limit, uint64_t addr, unsigned bytes, const char **why)
{
	const struct body_range *r = range_of(b, addr);

	*w = (struct window){ 0 };
	if (r == NULL || b->cut)
		return refuse(why,
		    "the code of the function is not known "
		    "completely");
	if (b->open)
		return refuse(why,
		    "the function has a jump whose target is "
		    "not known");
	const char *no = look_ahead(w, b, r, mem, limit, addr, bytes);
	if (no != NULL && !look_back(w, b, r, mem, addr, bytes))
		return refuse(why, no);
	return 0;
}
