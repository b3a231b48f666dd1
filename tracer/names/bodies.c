/*
 * Bodies of functions; see bodies.h.
 *
 * A symbol decides whether a range is a piece, by its name.  Only where a jump
 * leads to a range without a symbol, all code of the object is read once for
 * the owners of such ranges, and what was found is kept with the object.  It is
 * read once more for where its jumps lead, at the first jump that is to replace
 * an int3.
 */
#include "tracer/names/bodies.h"

#include <errno.h>
#include <stdlib.h>

#include "disasm/landings.h"
#include "disasm/pieces.h"
#include "dlang/base/hash.h"
#include "dlang/base/log.h"
#include "symbols/addrspace.h"
#include "symbols/symbolise.h"
#include "tracer/base/state.h"
#include "tracer/names/kept.h"

/* The ranges of one object. */
struct ranges {
	struct object *object; /* NULL: not read yet */
	VEC(struct piece_range) list;
	bool owned; /* the owners of the ranges are known */
	struct landings landings;
};

static void
ranges_end(void *part)
{
	struct ranges *r = part;

	vec_fini(&r->list);
	landings_fini(&r->landings);
}

static const struct part ranges_part = { .size = sizeof(struct ranges),
	.end = ranges_end };

/* ---- the ranges of an object ---- */

static int
range_compare(const void *va, const void *vb)
{
	const struct piece_range *a = va, *b = vb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->end > b->end ? -1 : a->end < b->end;
}

/* Each range ends where the next begins, and is a function if one of those
 * with its begin is. */
static void
part(struct ranges *r)
{
	size_t n = 0;

	if (r->list.len > 0)
		qsort(r->list.at, r->list.len, sizeof(*r->list.at),
		    range_compare);
	vec_foreach(one, &r->list) {
		struct piece_range *last = n > 0 ? &r->list.at[n - 1] : NULL;
		if (last != NULL && last->start == one->start) {
			last->function |= one->function;
			continue;
		}
		if (last != NULL && last->end > one->start)
			last->end = one->start;
		r->list.at[n++] = *one;
	}
	r->list.len = n;
}

static void
collect(struct ranges *r)
{
	const struct fde *fdes;
	const struct sym *syms;
	uint64_t entry = object_entry(r->object);

	size_t n = object_fdes(r->object, &fdes);
	for (size_t i = 0; i < n; i++)
		*vec_push(&r->list) =
		    (struct piece_range){ .start = fdes[i].start,
			    .end = fdes[i].end,
			    .function = fdes[i].start == entry };
	n = object_funcs(r->object, &syms);
	for (size_t i = 0; i < n; i++)
		if (syms[i].size > 0)
			*vec_push(&r->list) =
			    (struct piece_range){ .start = syms[i].addr,
				    .end = syms[i].addr + syms[i].size,
				    .function = !object_is_piece(
					r->object, syms[i].name) };
	part(r);
}

static int
read_object(void *ctx, uint64_t addr, void *buf, size_t len)
{
	return object_read(ctx, addr, buf, len);
}

static void
range_pads(void *ctx, const struct piece_range *r,
    void (*each)(void *arg, uint64_t pad), void *arg)
{
	const struct fde *f = object_fde_at(ctx, r->start);

	if (f != NULL)
		object_landing_pads(ctx, f, each, arg);
}

static void
held(void *ctx, void (*each)(void *arg, uint64_t addr), void *arg)
{
	object_words(ctx, each, arg);
}

static bool
is_laid(void *ctx, uint64_t addr)
{
	return object_frame(ctx, addr) == FRAME_LAID;
}

static struct ranges *
ranges_of(struct state *st, struct object *o)
{
	struct ranges *r = part_of(object_parts(st, o), &ranges_part);

	if (r->object != NULL)
		return r;
	r->object = o;
	collect(r);
	LOG("pieces", "%s: %zu ranges", object_path(o), r->list.len);
	return r;
}

/* The same, with owners. */
static const struct ranges *
owned_ranges(struct state *st, struct object *o)
{
	struct ranges *r = ranges_of(st, o);

	if (r->owned)
		return r;
	r->owned = true;
	pieces_find(r->list.at, r->list.len,
	    &(struct piece_world){
		.ctx = o,
		.code = { read_object, o },
		.fixed = !object_is_pie(o),
		.pads = range_pads,
		.held = held,
		.laid = is_laid,
	    });
	return r;
}

int
bodies_owner(struct state *st, struct object *o, uint64_t addr, uint64_t *start)
{
	const struct ranges *r;
	size_t i;

	if (object_fde_at(o, addr) == NULL)
		return -ENOENT;
	r = owned_ranges(st, o);
	i = pieces_at(r->list.at, r->list.len, addr);
	if (i == r->list.len)
		return -ENOENT;
	*start = r->list.at[r->list.at[i].owner].start;
	return 0;
}

static int
owner_of(void *ctx, struct object *o, uint64_t addr, uint64_t *start)
{
	return bodies_owner(ctx, o, addr, start);
}

void
bodies_serve(struct state *st)
{
	symbolise_by_owner(st != NULL ? owner_of : NULL, st);
}

/* ---- what is led to ---- */

static void
lead_to(void *ctx, uint64_t addr)
{
	landings_add(ctx, addr, true);
}

static void
pad(void *ctx, uint64_t addr)
{
	landings_add(ctx, addr, false);
}

static void
read_code(struct ranges *r, uint64_t start, uint64_t end, bool known)
{
	if (start >= end)
		return;
	uint8_t *code = mem_alloc(end - start);
	if (object_read(r->object, start, code, end - start) == 0)
		landings_add_code(&r->landings, code, end - start, start, known,
		    !object_is_pie(r->object));
	mem_free(code);
}

/* The code of a segment: ranges, and what is between them. */
static void
read_segment(struct ranges *r, uint64_t start, uint64_t end)
{
	vec_foreach(one, &r->list) {
		if (one->end <= start || one->start >= end)
			continue;
		read_code(r, start, one->start, false);
		start = MAX(start, one->start);
		read_code(r, start, MIN(end, one->end), true);
		start = MIN(end, one->end);
	}
	read_code(r, start, end, false);
}

/* False: the object has too much code. */
static bool
find_landings(struct ranges *r)
{
	uint64_t start, end, lo = UINT64_MAX, hi = 0;
	const struct fde *fdes;

	for (size_t i = 0; object_code(r->object, i, &start, &end); i++) {
		lo = MIN(lo, start);
		hi = MAX(hi, end);
	}
	if (lo >= hi || hi - lo > LANDINGS_MOST)
		return false;
	landings_init(&r->landings, lo, hi);
	for (size_t i = 0; object_code(r->object, i, &start, &end); i++)
		read_segment(r, start, end);
	vec_foreach(one, &r->list)
		landings_add(&r->landings, one->start, false);
	object_words(r->object, lead_to, &r->landings);
	size_t n = object_fdes(r->object, &fdes);
	for (size_t i = 0; i < n; i++)
		object_landing_pads(r->object, &fdes[i], pad, &r->landings);
	return true;
}

/* NULL: they are not known. */
static const struct landings *
landings_of(struct state *st, struct object *o)
{
	struct ranges *r = ranges_of(st, o);

	return r->landings.bits != NULL || find_landings(r) ? &r->landings :
							      NULL;
}

bool
bodies_lead_between(
    struct state *st, struct object *o, uint64_t from, uint64_t to)
{
	const struct landings *l = landings_of(st, o);

	return l == NULL || landings_between(l, from, to);
}

/* ---- one function ---- */

struct asked {
	struct state *st;
	const struct load *l;
};

/* A range without a symbol, with addr in it. */
static bool
unnamed_piece(const struct asked *a, const struct body *b, uint64_t addr,
    struct body_range *out)
{
	uint64_t own = addr - a->l->bias, owner;
	const struct ranges *r;

	if (pieces_is_stub(
		&(struct reader){ read_object, a->l->object }, own) ||
	    bodies_owner(a->st, a->l->object, own, &owner) != 0)
		return false;
	r = owned_ranges(a->st, a->l->object);
	const struct piece_range *p =
	    &r->list.at[pieces_at(r->list.at, r->list.len, own)];
	if (owner == p->start ||
	    !body_has(b->ranges.at, b->ranges.len, a->l->bias + owner))
		return false;
	*out =
	    (struct body_range){ a->l->bias + p->start, a->l->bias + p->end };
	return true;
}

static bool
is_piece(void *ctx, const struct body *b, uint64_t addr, struct body_range *out)
{
	const struct asked *a = ctx;
	uint64_t own = addr - a->l->bias;

	if (!object_is_text(a->l->object, own))
		return false;
	const struct sym *s = object_func_at(a->l->object, own);
	if (s == NULL)
		return unnamed_piece(a, b, addr, out);
	if (!object_is_piece(a->l->object, s->name))
		return false;
	*out = (struct body_range){ a->l->bias + s->addr,
		a->l->bias + s->addr + s->size };
	return true;
}

struct moved {
	uint64_t bias;
	void (*each)(void *arg, uint64_t pad);
	void *arg;
};

static void
pad_moved(void *ctx, uint64_t pad)
{
	const struct moved *m = ctx;

	m->each(m->arg, m->bias + pad);
}

static void
body_pads(void *ctx, const struct body_range *r,
    void (*each)(void *arg, uint64_t pad), void *arg)
{
	const struct asked *a = ctx;
	const struct fde *f =
	    object_fde_at(a->l->object, r->start - a->l->bias);

	if (f != NULL)
		object_landing_pads(a->l->object, f, pad_moved,
		    &(struct moved){ a->l->bias, each, arg });
}

static enum body_frame
frame_at(void *ctx, uint64_t addr)
{
	const struct asked *a = ctx;

	switch (object_frame(a->l->object, addr - a->l->bias)) {
	case FRAME_BARE: return BODY_FRAME_BARE;
	case FRAME_LAID: return BODY_FRAME_LAID;
	case FRAME_UNKNOWN: break;
	}
	return BODY_FRAME_UNKNOWN;
}

static bool
is_named(void *ctx, const struct body_range *r)
{
	const struct asked *a = ctx;
	const struct landings *l = landings_of(a->st, a->l->object);
	uint64_t bias = a->l->bias;

	return l == NULL || landings_named(l, r->start - bias, r->end - bias);
}

/* As far from a function those that share code with it begin, or less. */
#define NEAR 512

/* Who writes functions that share code writes them side by side. */
static void
neighbours(void *ctx, const struct body *b,
    void (*each)(void *arg, const struct body_range *r), void *arg)
{
	const struct asked *a = ctx;
	const struct sym *syms;
	uint64_t bias = a->l->bias;
	uint64_t lo = b->ranges.at[0].start - bias, last = 0;
	uint64_t hi = b->ranges.at[0].end - bias + NEAR;

	lo = lo > NEAR ? lo - NEAR : 0;
	size_t n = object_funcs(a->l->object, &syms);
	size_t i = object_funcs_from(a->l->object, lo);
	for (; i < n && syms[i].addr < hi; i++) {
		if (syms[i].size == 0 || syms[i].addr == last ||
		    object_is_piece(a->l->object, syms[i].name))
			continue;
		last = syms[i].addr;
		each(arg,
		    &(struct body_range){
			bias + last, bias + last + syms[i].size });
	}
}

int
bodies_find(struct state *st, const struct reader *mem, const struct load *l,
    uint64_t start, uint64_t end, bool exits, struct body *b)
{
	struct asked a = { st, l };

	return body_find(b, start, end,
	    &(struct body_world){
		.ctx = &a,
		.mem = *mem,
		.piece = is_piece,
		.pads = body_pads,
		.others = neighbours,
		/* Takes time, and only jumps need it. */
		.named = options_fastpath(&st->opts) != FASTPATH_OFF ?
		    is_named :
		    NULL,
		.frame = exits ? frame_at : NULL,
	    });
}
