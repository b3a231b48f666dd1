/*
 * Boards; see boards.h.
 */
#include "tracer/sites/boards.h"

#include "disasm/window.h"
#include "inject/tracepoint.h"
#include "symbols/addrspace.h"
#include "tracer/names/bodies.h"
#include "tracer/ptrace/proc.h"
#include "tracer/sites/function.h"
#include "tracer/sites/sequences.h"
#include "tracer/sites/windows.h"

#define PAGE 4096U

/* How far a short jump leads, and the longest padding that is looked at. */
#define FAR (130U + 128U)

struct search {
	struct state *st;
	struct space *sp;
	const struct load *load;
	uint64_t addr; /* of the short jump */
	struct sequences *sequences;
	const struct body *own;
};

/* Is the address, in memory, in no function? */
static bool
is_between(const struct search *s, uint64_t addr)
{
	struct object *o = s->load->object;
	uint64_t own = addr - s->load->bias;

	return object_code_at(o, own) == NULL && object_fde_at(o, own) == NULL;
}

/* Does no function lead to [from, to), behind the end of one? */
static bool
is_dead(const struct search *s, uint64_t from, uint64_t to)
{
	const struct load *l = s->load;
	struct body_range f;
	struct body body;
	bool dead = false;

	if (bodies_lead_between(
		s->st, l->object, from - 1 - l->bias, to - l->bias) ||
	    sequences_contain(s->sequences, s->sp, l, from, to))
		return false;
	vec_foreach(r, &s->own->ranges)
		if (r->end == from)
			return window_is_dead(s->own, &s->sp->text, from, to);
	if (function_range(s->st, l->object, from - 1 - l->bias, &f) != NULL)
		return false;
	if (bodies_find(s->st, &s->sp->text, l, l->bias + f.start,
		l->bias + f.end, false, &body) == 0)
		dead = window_is_dead(&body, &s->sp->text, from, to);
	body_fini(&body);
	return dead;
}

/* The last place in [from, to). */
static uint64_t
choose(const struct search *s, uint64_t from, uint64_t to)
{
	for (uint64_t at = to - TRAP_JUMP_LEN; at >= from; at--)
		if (at / PAGE == s->addr / PAGE &&
		    (at + TRAP_TAIL) / PAGE == at / PAGE &&
		    tracepoint_can_board(s->addr, at) &&
		    windows_board_free(s->st, s->sp, s->load, at))
			return at;
	return 0;
}

/* Look at the gaps between functions, from the first that is in reach; the first `skip'
 * bytes of each are left alone. */
static uint64_t
find(const struct search *s, unsigned skip)
{
	const struct load *l = s->load;
	uint64_t at = s->addr - MIN(s->addr - l->start, FAR);
	uint64_t end = s->addr + MIN(l->end - s->addr, FAR), from;
	uint64_t board = 0;

	/* Padding that begins or ends out of sight is of no use. */
	while (at < end && is_between(s, at))
		at++;
	while (at < end && board == 0) {
		while (at < end && !is_between(s, at))
			at++;
		from = at;
		while (at < end && is_between(s, at))
			at++;
		if (at < end && at - from >= skip + TRAP_JUMP_LEN)
			board = choose(s, from + skip, at);
		if (board != 0 && !is_dead(s, from, at))
			board = 0;
	}
	return board;
}

uint64_t
boards_find(struct state *st, struct space *sp, const struct load *l,
    uint64_t addr, struct sequences *q, const struct body *own)
{
	const struct search s = { st, sp, l, addr, q, own };
	uint64_t board = find(&s, TRAP_TAIL);

	/* The first bytes may be in the window of the return before them. */
	return board != 0 ? board : find(&s, 0);
}
