/*
 * Finds pieces of functions; see pieces.h.
 *
 * One walk over all code records which ranges are called, whose address is
 * taken, and which range jumps to which. Then each range that is no function
 * gets the owner from which all jumps to it come. Pieces also jump to pieces,
 * so this is repeated until nothing changes.
 *
 * A function that only one other function reaches, by a tail call, looks nearly
 * like a piece. But functions begin at aligned addresses with only the return
 * address on the stack, and do not jump into the middle of others. If such a
 * function is taken for a piece nevertheless, both are entered and left
 * together: the number of calls is right, and the return is a little later.
 */
#include "disasm/pieces.h"

#include <stdlib.h>

#include "disasm/func.h"
#include "dlang/base/sorted.h"
#include "dlang/base/vec.h"

/* Chains of pieces are short. */
#define PASSES_MOST 8

/* No function is larger. */
#define RANGE_MOST (16U << 20)

enum {
	CALLED = 1,
	HELD = 2,
	PART = 4, /* it is entered in the middle, or jumps into the middle of
		   * others: no function */
};

/* Compilers align the begin of a function to this. A piece has such an address
 * only by chance. */
#define ALIGNED 16

struct edge {
	uint32_t from, to;
};

struct sweep {
	const struct piece_world *w;
	struct piece_range *r;
	size_t n;
	uint8_t *flags; /* of each range */
	VEC(struct edge) edges;
	uint32_t from; /* the range that is walked */
};

size_t
pieces_at(const struct piece_range *r, size_t n, uint64_t addr)
{
	size_t to = sorted_count(n, i, r[i].start <= addr);

	return to > 0 && addr < r[to - 1].end ? to - 1 : n;
}

/* ---- facts about ranges from code and data ---- */

/* The range at addr, if it may be a piece; n otherwise. */
static size_t
candidate(const struct sweep *s, uint64_t addr)
{
	size_t i = pieces_at(s->r, s->n, addr);

	return i < s->n && !s->r[i].function ? i : s->n;
}

static void
note_call(struct sweep *s, uint64_t target)
{
	size_t i = candidate(s, target);

	/* A call of the next instruction reads its own address; a call of the
	 * range's own begin is a recursion. */
	if (i < s->n && (i != s->from || target == s->r[i].start))
		s->flags[i] |= CALLED;
}

static void
note_address(void *ctx, uint64_t addr)
{
	struct sweep *s = ctx;
	size_t i = candidate(s, addr);

	if (i < s->n && s->r[i].start == addr)
		s->flags[i] |= HELD;
}

static void
note_way(void *ctx, uint64_t target)
{
	struct sweep *s = ctx;
	size_t i = candidate(s, target);

	if (i == s->n || i == s->from)
		return;
	if (target != s->r[i].start)
		s->flags[i] |= PART;
	if (s->edges.len > 0) {
		struct edge *last = &s->edges.at[s->edges.len - 1];
		if (last->from == s->from && last->to == i)
			return;
	}
	if (!pieces_is_stub(&s->w->code, target))
		*vec_push(&s->edges) = (struct edge){ s->from, (uint32_t)i };
}

/* The range that is being walked jumps out of itself. */
static void
note_jump(struct sweep *s, uint64_t target)
{
	size_t i = pieces_at(s->r, s->n, target);

	if (i < s->n && s->r[i].start != target)
		s->flags[s->from] |= PART;
	note_way(s, target);
}

/* The unwinder may enter the range that contains pad. */
static void
note_pad(void *ctx, uint64_t pad)
{
	struct sweep *s = ctx;
	size_t i = candidate(s, pad);

	if (i < s->n)
		s->flags[i] |= PART;
	note_way(s, pad);
}

static int
each_insn(void *ctx, const struct func_insn *fi)
{
	struct sweep *s = ctx;
	const struct insn *in = &fi->insn;
	uint64_t addr;

	switch (in->kind) {
	case INSN_CALL: note_call(s, in->target); break;
	case INSN_JMP:
	case INSN_JCC:
	case INSN_LOOP:
		if (fi->exit != FUNC_STAYS)
			note_jump(s, in->target);
		break;
	default:
		if (insn_names(in, s->w->fixed, &addr))
			note_address(s, addr);
		break;
	}
	return 0;
}

static void
sweep_range(struct sweep *s, const struct piece_range *r)
{
	size_t size = r->end - r->start;

	if (r->end <= r->start || size > RANGE_MOST)
		return;
	uint8_t *code = mem_alloc(size);
	if (reader_read(&s->w->code, r->start, code, size) == 0)
		func_walk(code, size, r->start, each_insn, s, NULL);
	mem_free(code);
	s->w->pads(s->w->ctx, r, note_pad, s);
}

/* ---- owners ---- */

static uint32_t
root(const struct sweep *s, uint32_t i)
{
	while (s->r[i].owner != i)
		i = s->r[i].owner;
	return i;
}

static int
edge_compare(const void *va, const void *vb)
{
	const struct edge *a = va, *b = vb;

	if (a->to != b->to)
		return a->to < b->to ? -1 : 1;
	return a->from < b->from ? -1 : a->from > b->from;
}

static bool
may_be_piece(const struct sweep *s, uint32_t i)
{
	uint64_t start = s->r[i].start;

	if (s->flags[i] & CALLED)
		return false;
	if (!(s->flags[i] & HELD) &&
	    ((s->flags[i] & PART) || start % ALIGNED != 0))
		return true;
	return s->w->laid(s->w->ctx, start);
}

/* The one range from which the edges [first, last) to a range come.  The range
 * itself if they come from several ranges, or only from itself. */
static uint32_t
owner_of(const struct sweep *s, size_t first, size_t last)
{
	uint32_t to = s->edges.at[first].to, owner = to;

	for (size_t i = first; i < last; i++) {
		uint32_t from = root(s, s->edges.at[i].from);

		if (from == to || from == owner)
			continue;
		if (owner != to)
			return to;
		owner = from;
	}
	return owner;
}

static bool
pass(struct sweep *s)
{
	bool changed = false;
	size_t last;

	for (size_t first = 0; first < s->edges.len; first = last) {
		uint32_t to = s->edges.at[first].to;

		for (last = first;
		     last < s->edges.len && s->edges.at[last].to == to; last++)
			;
		if (s->r[to].owner != to || !may_be_piece(s, to))
			continue;
		s->r[to].owner = owner_of(s, first, last);
		changed |= s->r[to].owner != to;
	}
	return changed;
}

void
pieces_find(struct piece_range *r, size_t n, const struct piece_world *w)
{
	struct sweep s = { .w = w, .r = r, .n = n };

	s.flags = mem_zalloc(n + 1);
	for (size_t i = 0; i < n; i++)
		r[i].owner = (uint32_t)i;
	for (size_t i = 0; i < n; i++) {
		s.from = (uint32_t)i;
		sweep_range(&s, &r[i]);
	}
	w->held(w->ctx, note_address, &s);
	if (s.edges.len > 0)
		qsort(
		    s.edges.at, s.edges.len, sizeof(*s.edges.at), edge_compare);
	for (int i = 0; i < PASSES_MOST && pass(&s); i++)
		;
	/* To the end of each chain. */
	for (size_t i = 0; i < n; i++)
		r[i].owner = root(&s, (uint32_t)i);
	vec_fini(&s.edges);
	mem_free(s.flags);
}
