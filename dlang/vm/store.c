/*
 * Computes the layout of the store (store.h has the picture), in 64 bits first,
 * so that absurd option values are refused and do not wrap.
 */
#define DLANG_VM_IMPL
#include "dlang/vm/store.h"

#include "dlang/vm/agg.h"
#include "dlang/vm/agg_impl.h"
#include "dlang/vm/spec.h"
#include "dlang/vm/dyn.h"

struct layout {
	uint64_t statics, dyn, lanes, end; /* offsets in the store */
	uint64_t env; /* bytes of a vm_env behind struct lane, or 0 */
	uint64_t locals, self, scratch, buf, agg, pins, spec; /* in a lane */
	uint64_t lane;                                        /* its bytes */
	uint64_t stride; /* from one lane to the next */
	uint64_t spec_size;
	uint32_t dynvars, selfvars;
};

/* Each lane begins at a cache line of its own.  In a thread store each begins
 * at a page, because a stack is before it. */
#define LANE_ALIGN 64

static_assert(
    LANE_STACK % STORE_PAGE == 0 && LANE_GAP % STORE_PAGE == 0, "whole pages");

static uint64_t
align_to(uint64_t n, uint64_t to)
{
	return (n + to - 1) & ~(to - 1);
}

static uint64_t
align64(uint64_t n)
{
	return align_to(n, LANE_ALIGN);
}

/* Lay out the parts before the lanes, and the first lane. */
static void
layout_head(
    struct layout *y, const struct img_hdr *im, const struct store_sizes *s)
{
	uint64_t at = align64(sizeof(struct store_hdr));

	y->statics = y->dyn = 0;
	y->dynvars = y->selfvars = 0;
	if (s->threads) {
		y->selfvars = dyn_count(im, s->dynvarsize);
		y->lanes = align_to(at, STORE_PAGE) + LANE_GAP + LANE_STACK;
		return;
	}
	y->statics = at;
	y->dyn = align64(y->statics + im->statics_size);
	y->dynvars = dyn_count(im, s->dynvarsize);
	y->lanes = align64(y->dyn + dyn_size(im, y->dynvars));
}

static bool
layout(struct layout *y, const struct img_hdr *im, const struct store_sizes *s)
{
	uint64_t self_size;

	layout_head(y, im, s);
	self_size = s->threads ? dyn_size(im, y->selfvars) : 0;
	y->spec_size = s->threads ? 0 : spec_size(im->nspec, im->specsize);
	y->env = s->threads ? sizeof(struct vm_env) : 0;
	y->locals = align64(sizeof(struct lane) + y->env);
	y->self = align64(y->locals + im->locals_size);
	y->scratch = align64(y->self + self_size + SCRATCH_GAP);
	y->buf = align64(y->scratch + VM_ALIGN(s->scratch));
	y->agg = align64(y->buf + (s->bufsize & ~7U));
	y->pins = align64(y->agg + 2 * (uint64_t)(s->aggsize & ~7U));
	y->spec = align64(y->pins + s->npins * sizeof(struct agg_pin));
	/* One more byte, so that a reference to an empty last part is valid. */
	y->lane = align64(y->spec + y->spec_size + 1);
	y->stride = s->threads ?
	    align_to(y->lane, STORE_PAGE) + LANE_GAP + LANE_STACK :
	    y->lane;

	if (y->spec_size > UINT32_MAX || y->stride > UINT32_MAX)
		return false;
	y->end = y->lanes + y->stride * s->nlanes;
	return y->end <= UINT32_MAX;
}

/* ---- sizes ---- */

/* The number of the smallest items that fit into a lane's share. */
#define LEAST_RECORDS 2
#define LEAST_ENTRIES 4
#define LEAST_VARS    16

/* Pins of a lane, and of all lanes. */
#define PINS_MOST  (1U << 14)
#define PINS_WHOLE (1U << 22)

static bool
has_scope(const struct img_hdr *im, enum dif_scope scope)
{
	const struct img_var *v =
	    (const void *)((const uint8_t *)im + im->vars_ref);

	for (uint32_t i = 0; i < im->nvars; i++)
		if (v[i].scope == scope)
			return true;
	return false;
}

/* Few threads are busy at a time, but which ones is not known.  So where address
 * space costs nothing each lane has more than its share of the whole, as long as
 * all of them together do not exceed this.  A buffer for records is used from end
 * to end; an aggregation only takes the pages that its keys need. */
#define ROOM_RECORDS (16U << 20)
#define ROOM_AGGS    (128U << 20)

static uint32_t
share(uint32_t whole, uint32_t room, uint32_t nlanes, uint64_t least)
{
	uint64_t all = whole > room ? whole : room;
	uint64_t n = VM_MIN(whole, nlanes == 0 ? all : all / nlanes);

	n = n < least ? least : n;
	return n > UINT32_MAX ? UINT32_MAX : (uint32_t)n & ~7U;
}

static uint64_t
least_agg(const struct img_hdr *im)
{
	uint64_t size = 64,
		 data = (uint64_t)im->agg_data * LEAST_ENTRIES +
	    agg_entry_size(0, 0) * (LEAST_ENTRIES - 1);

	while (size < UINT32_MAX && data < UINT32_MAX &&
	    !agg_holds((uint32_t)size, (uint32_t)data))
		size *= 2;
	return size;
}

struct store_sizes
store_share(const struct img_hdr *im, const struct store_sizes *whole,
    uint32_t nlanes, bool roomy)
{
	uint64_t record = im->rec_max > sizeof(struct rec_fault) ?
	    im->rec_max :
	    sizeof(struct rec_fault);
	bool self = has_scope(im, DIF_THREAD);
	struct store_sizes s = *whole;

	s.threads = true;
	s.nlanes = nlanes;
	s.bufsize = share(whole->bufsize, roomy ? ROOM_RECORDS : 0, nlanes,
	    LEAST_RECORDS * VM_ALIGN(record));
	s.aggsize = im->naggs == 0 ?
	    0 :
	    share(whole->aggsize, roomy ? ROOM_AGGS : 0, nlanes, least_agg(im));
	s.dynvarsize = self ? share(whole->dynvarsize, 0, nlanes,
				  (uint64_t)im->dyn_cost * LEAST_VARS + 8) :
			      0;
	s.end_room = 0;
	s.npins = im->flags & IMG_PINS ?
	    VM_MIN(PINS_MOST, PINS_WHOLE / (nlanes == 0 ? 1 : nlanes)) :
	    0;
	return s;
}

bool
store_has_room(const struct img_hdr *im, uint32_t dynvarsize)
{
	return im->dyn_cost == 0 || dyn_count(im, dynvarsize) > 0;
}

uint32_t
store_size(const struct img_hdr *im, const struct store_sizes *s)
{
	struct layout y;

	return layout(&y, im, s) ? (uint32_t)y.end : 0;
}

/* String variables start as NULL; everything else as zero bytes. */
static void
init_strings(const struct img_hdr *im, uint8_t *base, enum dif_scope scope)
{
	const struct img_var *v =
	    (const void *)((const uint8_t *)im + im->vars_ref);

	for (uint32_t i = 0; i < im->nvars; i++)
		if (v[i].scope == scope && v[i].kind == DIF_SCALAR &&
		    v[i].flags & IMG_VAR_STRING)
			base[v[i].off] = 0xff;
}

static void
lane_init(struct region *r, uint32_t n, const struct img_hdr *im,
    const struct layout *y, const struct store_sizes *s)
{
	uint32_t ref = (uint32_t)(y->lanes + y->stride * n);
	struct lane *l = (void *)(r->base + ref);

	l->number = n;
	l->size = (uint32_t)y->lane;
	l->self_ref = s->threads ? ref + (uint32_t)y->self : 0;
	l->locals_ref = ref + (uint32_t)y->locals;
	l->locals_size = im->locals_size;
	l->scratch_ref = ref + (uint32_t)y->scratch;
	l->scratch_size = VM_ALIGN(s->scratch);
	l->buf_ref = ref + (uint32_t)y->buf;
	l->buf_size = s->bufsize & ~7U;
	l->agg_ref = ref + (uint32_t)y->agg;
	l->agg_size = s->aggsize & ~7U;
	l->pins_ref = ref + (uint32_t)y->pins;
	l->npins = s->npins;
	l->spec_ref = s->threads ? 0 : ref + (uint32_t)y->spec;
	l->spec_size = (uint32_t)y->spec_size;
	agg_init(r, l);
	if (l->self_ref != 0)
		dyn_init(r, l->self_ref, im, y->selfvars);
}

int
store_init(
    struct region *r, const struct img_hdr *im, const struct store_sizes *s)
{
	struct layout y;

	if (!layout(&y, im, s) || y.end > r->size)
		return -1;

	struct store_hdr *h = (void *)r->base;
	h->magic = STORE_MAGIC;
	h->version = STORE_VERSION;
	h->size = (uint32_t)y.end;
	h->threads = s->threads;
	h->statics_ref = (uint32_t)y.statics;
	h->dyn_ref = (uint32_t)y.dyn;
	h->lanes_ref = (uint32_t)y.lanes;
	h->lane_size = (uint32_t)y.stride;
	h->nlanes = s->nlanes;
	h->policy = s->policy;
	h->end_room = s->end_room;
	h->activity = ACTIVITY_INACTIVE;
	if (!s->threads) {
		init_strings(im, r->base + y.statics, DIF_GLOBAL);
		dyn_init(r, h->dyn_ref, im, y.dynvars);
	}
	for (uint32_t i = 0; i < s->nlanes; i++)
		lane_init(r, i, im, &y, s);
	return 0;
}

struct store_hdr *
store_hdr(const struct region *r)
{
	return (void *)r->base;
}

static struct lane *
lane_at(const struct region *r, uint32_t n)
{
	struct store_hdr *h = store_hdr(r);
	uint32_t first = LOAD_ONCE(&h->lanes_ref);
	uint32_t size = LOAD_ONCE(&h->lane_size);

	if (n >= LOAD_ONCE(&h->nlanes))
		return NULL;
	uint64_t at = first + (uint64_t)n * size;
	return at > UINT32_MAX ?
	    NULL :
	    region_at8(r, (uint32_t)at, sizeof(struct lane));
}

/* The additional parts in a thread store: a stack before the lane, a vm_env
 * behind it, and the thread's variables before scratch memory. */
static bool
view_thread(const struct region *r, const struct img_hdr *im,
    const struct lane *l, struct lane_view *v)
{
	uint32_t ref = (uint32_t)((const uint8_t *)l - r->base);

	if (ref < LANE_STACK + LANE_GAP ||
	    region_at8(r, ref, sizeof(*l) + sizeof(struct vm_env)) == NULL ||
	    v->scratch_ref <
		(uint64_t)v->locals_ref + im->locals_size + SCRATCH_GAP)
		return false;
	v->thread_end = v->scratch_ref - SCRATCH_GAP;
	dyn_view(r, LOAD_ONCE(&l->self_ref), im, &v->self);
	return true;
}

/* The parts of every lane.  False if one is not within the store. */
static bool
view_parts(const struct region *r, const struct img_hdr *im, struct lane *l,
    struct lane_view *v)
{
	struct store_hdr *h = store_hdr(r);

	v->threads = LOAD_ONCE(&h->threads) != 0;
	v->locals_ref = LOAD_ONCE(&l->locals_ref);
	v->scratch_ref = LOAD_ONCE(&l->scratch_ref);
	v->scratch_size = LOAD_ONCE(&l->scratch_size) & ~7U;
	v->buf_size = LOAD_ONCE(&l->buf_size) & ~7U;
	v->locals = region_at8(r, v->locals_ref, im->locals_size);
	v->scratch = region_at8(r, v->scratch_ref, v->scratch_size);
	v->buf = region_at8(r, LOAD_ONCE(&l->buf_ref), v->buf_size);
	v->policy = LOAD_ONCE(&h->policy);
	v->end_room = LOAD_ONCE(&h->end_room);
	if (v->locals == NULL || v->scratch == NULL || v->buf == NULL)
		return false;
	if (v->threads)
		return view_thread(r, im, l, v);
	v->statics_ref = LOAD_ONCE(&h->statics_ref);
	v->statics_size = im->statics_size;
	v->statics = region_at8(r, v->statics_ref, v->statics_size);
	return v->statics != NULL;
}

bool
store_view(const struct region *image, const struct region *store, uint32_t n,
    struct lane_view *v)
{
	const struct img_hdr *im = (const void *)image->base;
	struct lane *l = lane_at(store, n);

	*v = (struct lane_view){ 0 };
	if (l == NULL || image->size < sizeof(*im) ||
	    !view_parts(store, im, l, v))
		return false;
	v->image = im;
	v->base = store->base;
	v->store = store_hdr(store);
	agg_view(store, l, v);
	if (!v->threads) {
		dyn_view(store, LOAD_ONCE(&v->store->dyn_ref), im, &v->dyn);
		v->self = v->dyn;
		v->spec = region_at8(store, LOAD_ONCE(&l->spec_ref),
		    spec_size(im->nspec, im->specsize));
	}
	v->lane = l;
	v->number = n;
	v->lane_size = LOAD_ONCE(&l->size);
	return true;
}
