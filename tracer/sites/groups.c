/*
 * Groups; see groups.h.
 */
#include "tracer/sites/groups.h"

#include <stdlib.h>

#include "dlang/base/base.h"
#include "inject/tracepoint.h"

#define PAGE 4096U

static int
by_address(const void *a, const void *b)
{
	uint64_t x = ((const struct place *)a)->addr;
	uint64_t y = ((const struct place *)b)->addr;

	return x < y ? -1 : x > y;
}

static void
sort(struct place *at, size_t n)
{
	size_t i = 1;

	while (i < n && at[i - 1].addr < at[i].addr)
		i++;
	if (i < n)
		qsort(at, n, sizeof(*at), by_address);
}

/* ---- what a place covers ---- */

static uint64_t
start_of(const struct place *p)
{
	return p->window != NULL ? p->window->insn[0].addr : p->addr;
}

static uint64_t
end_of(const struct place *p)
{
	return p->window != NULL ?
	    MAX(p->window->next, start_of(p) + tracepoint_jump_len(p->window)) :
	    p->addr + 1;
}

/* Take away a window with a board that another place is in or has bytes of: it has no
 * room for a jump that they could share, and may be in theirs. */
static void
stand_alone(struct place *at, size_t n, size_t i)
{
	uint64_t start = start_of(&at[i]), end = end_of(&at[i]);

	for (size_t k = i;
	     k-- > 0 && at[i].addr - at[k].addr <= 2 * TRACEPOINT_SPAN;)
		if (end_of(&at[k]) > start)
			at[i].window = NULL;
	for (size_t k = i + 1;
	     k < n && at[k].addr - at[i].addr <= 2 * TRACEPOINT_SPAN; k++)
		if (start_of(&at[k]) < end)
			at[i].window = NULL;
}

/* Take away windows with an int3 in them that stays.  No window begins further from
 * its place than a jump reaches. */
static void
make_way(struct place *at, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t addr = at[i].addr;
		if (at[i].may)
			continue;
		at[i].window = NULL;
		for (size_t k = i;
		     k-- > 0 && addr - at[k].addr <= TRACEPOINT_SPAN;)
			if (end_of(&at[k]) > addr)
				at[k].window = NULL;
		for (size_t k = i + 1;
		     k < n && at[k].addr - addr <= TRACEPOINT_SPAN; k++)
			if (start_of(&at[k]) <= addr)
				at[k].window = NULL;
	}
}

/* ---- instructions ---- */

static const struct insn *
insn_in(const struct window *w, uint64_t addr)
{
	for (unsigned i = 0; i < w->n; i++)
		if (w->insn[i].addr == addr)
			return &w->insn[i];
	return NULL;
}

/* The instruction of the group at addr; *last if no other one follows it. */
static const struct insn *
insn_at(const struct group *g, uint64_t addr, bool *last)
{
	const struct insn *in = NULL;

	*last = false;
	for (size_t i = 0; in == NULL && i < g->n; i++) {
		const struct window *w = g->at[i].window;
		if (w == NULL)
			continue;
		in = insn_in(w, addr);
		*last = in != NULL && w->ends && in == &w->insn[w->n - 1];
	}
	return in;
}

bool
group_has(const struct group *g, uint64_t addr)
{
	bool last;

	return addr != g->start && insn_at(g, addr, &last) != NULL;
}

bool
group_window(const struct group *g, size_t i, struct window *w)
{
	uint64_t site = g->at[i].addr, at = i == 0 ? g->start : site;
	uint64_t board = g->n == 1 ? g->at[i].window->board : 0;
	const struct insn *in;

	*w = (struct window){ .next = at, .board = board };
	uint64_t to = i + 1 < g->n ?
	    g->at[i + 1].addr :
	    MAX(site + 1, g->start + tracepoint_jump_len(w));
	while (w->next < to && !w->ends &&
	    (in = insn_at(g, w->next, &w->ends)) != NULL) {
		if (w->n == WINDOW_MOST)
			return false;
		if (in->addr == site)
			w->site = w->n;
		w->insn[w->n++] = *in;
		w->next = in->addr + in->len;
	}
	/* The next place must be at an instruction, to which this one leads. */
	return w->n > 0 && w->insn[w->site].addr == site &&
	    (i + 1 == g->n || (w->next == to && !w->ends && !window_calls(w)));
}

/* ---- forming ---- */

/* Where the first window of at[0 .. n) begins.  One of them does not reach back
 * further than that to the first place. */
static uint64_t
first_start(const struct place *at, size_t n)
{
	uint64_t first = n > 0 ? start_of(&at[0]) : UINT64_MAX;

	for (size_t i = 1; i < n && at[i].addr - at[0].addr <= TRACEPOINT_SPAN;
	     i++)
		first = MIN(first, start_of(&at[i]));
	return first;
}

static bool
is_good(const struct group *g)
{
	uint64_t end = MAX(g->at[g->n - 1].addr + 1, g->start + TRAP_JUMP_LEN);
	struct window w;

	if (g->n == 1)
		return g->at[0].window != NULL;
	if (end - g->start > TRACEPOINT_SPAN ||
	    g->start / PAGE != (end - 1) / PAGE)
		return false;
	for (size_t i = 0; i < g->n; i++)
		if (!g->at[i].may || !group_window(g, i, &w))
			return false;
	return true;
}

struct group
group_alone(const struct group *g, size_t i)
{
	const struct place *p = &g->at[i];

	return (struct group){ p, 1, start_of(p), end_of(p) };
}

/* Take the places of g one by one, as far as their windows leave each other alone. */
static void
separately(const struct group *g, void (*fn)(void *ctx, const struct group *g),
    void *ctx)
{
	uint64_t free = 0;

	for (size_t i = 0; i < g->n; i++) {
		const struct place *p = &g->at[i];
		const struct group one = group_alone(g, i);
		if (p->window == NULL || one.start < free ||
		    (i > 0 && p[-1].addr >= one.start) ||
		    (i + 1 < g->n && p[1].addr < one.end))
			continue;
		fn(ctx, &one);
		free = one.end;
	}
}

void
groups_each(struct place *at, size_t n,
    void (*fn)(void *ctx, const struct group *g), void *ctx)
{
	sort(at, n);
	make_way(at, n);
	for (size_t i = 0; i < n; i++)
		if (at[i].window != NULL && at[i].window->board != 0)
			stand_alone(at, n, i);
	for (size_t i = 0; i < n;) {
		struct group g = { &at[i], 0, start_of(&at[i]), 0 };
		do {
			g.start = MIN(g.start, start_of(&at[i]));
			g.end = MAX(g.end, end_of(&at[i]));
			g.n++;
			i++;
		} while (first_start(&at[i], n - i) < g.end);
		if (is_good(&g))
			fn(ctx, &g);
		else
			separately(&g, fn, ctx);
	}
}
