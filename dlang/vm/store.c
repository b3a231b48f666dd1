/*
 * Laying out the store (store.h has the picture).  Everything is computed in
 * 64 bits first, so that absurd option values are refused and not wrapped.
 */
#define DLANG_VM_IMPL
#include "dlang/vm/store.h"

#include "dlang/vm/agg_impl.h"
#include "dlang/vm/spec.h"
#include "dlang/vm/vars.h"

struct layout {
	uint64_t statics, dyn, lanes, end; /* offsets in the store */
	uint64_t locals, scratch, buf, agg, spec, lane; /* offsets in a lane */
	uint64_t spec_size;
	uint32_t dynvars;
};

/* Lanes begin on a cache line of their own. */
#define LANE_ALIGN 64

static uint64_t
align64(uint64_t n)
{
	return (n + LANE_ALIGN - 1) & ~(uint64_t)(LANE_ALIGN - 1);
}

static bool
layout(struct layout *y, const struct img_hdr *im, const struct store_sizes *s)
{
	y->statics = align64(sizeof(struct store_hdr));
	y->dyn = align64(y->statics + im->statics_size);
	y->dynvars = vars_count(im, s->dynvarsize);
	y->lanes = align64(y->dyn + vars_size(im, y->dynvars));

	y->spec_size = spec_size(im->nspec, im->specsize);
	y->locals = align64(sizeof(struct lane));
	y->scratch = align64(y->locals + im->locals_size + SCRATCH_GAP);
	y->buf = align64(y->scratch + VM_ALIGN(s->scratch));
	y->agg = align64(y->buf + (s->bufsize & ~7U));
	y->spec = align64(y->agg + 2 * (uint64_t)(s->aggsize & ~7U));
	/* Something follows even what is empty: a reference to it is valid. */
	y->lane = align64(y->spec + y->spec_size + 1);

	if (y->spec_size > UINT32_MAX || y->lane > UINT32_MAX)
		return false;
	y->end = y->lanes + y->lane * s->nlanes;
	return y->end <= UINT32_MAX;
}

bool
store_has_room(const struct img_hdr *im, uint32_t dynvarsize)
{
	return im->dyn_cost == 0 || vars_count(im, dynvarsize) > 0;
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
lane_init(struct region *r, uint32_t ref, const struct img_hdr *im,
    const struct layout *y, const struct store_sizes *s)
{
	struct lane *l = (void *)(r->base + ref);

	l->size = (uint32_t)y->lane;
	l->locals_ref = ref + (uint32_t)y->locals;
	l->locals_size = im->locals_size;
	l->scratch_ref = ref + (uint32_t)y->scratch;
	l->scratch_size = VM_ALIGN(s->scratch);
	l->buf_ref = ref + (uint32_t)y->buf;
	l->buf_size = s->bufsize & ~7U;
	l->agg_ref = ref + (uint32_t)y->agg;
	l->agg_size = s->aggsize & ~7U;
	l->spec_ref = ref + (uint32_t)y->spec;
	l->spec_size = (uint32_t)y->spec_size;
	agg_init(r, l);
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
	h->statics_ref = (uint32_t)y.statics;
	h->dyn_ref = (uint32_t)y.dyn;
	h->lanes_ref = (uint32_t)y.lanes;
	h->lane_size = (uint32_t)y.lane;
	h->nlanes = s->nlanes;
	h->policy = s->policy;
	h->end_room = s->end_room;
	h->activity = ACTIVITY_INACTIVE;
	init_strings(im, r->base + y.statics, DIF_GLOBAL);
	vars_init(r, h->dyn_ref, im, y.dynvars);
	for (uint32_t i = 0; i < s->nlanes; i++)
		lane_init(r, h->lanes_ref + i * h->lane_size, im, &y, s);
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

/* The parts that every lane has; false when one is not in the store. */
static bool
view_parts(const struct region *r, const struct img_hdr *im, struct lane *l,
    struct lane_view *v)
{
	struct store_hdr *h = store_hdr(r);

	v->statics_ref = LOAD_ONCE(&h->statics_ref);
	v->locals_ref = LOAD_ONCE(&l->locals_ref);
	v->scratch_ref = LOAD_ONCE(&l->scratch_ref);
	v->scratch_size = LOAD_ONCE(&l->scratch_size) & ~7U;
	v->buf_size = LOAD_ONCE(&l->buf_size) & ~7U;
	v->statics = region_at8(r, v->statics_ref, im->statics_size);
	v->locals = region_at8(r, v->locals_ref, im->locals_size);
	v->scratch = region_at8(r, v->scratch_ref, v->scratch_size);
	v->buf = region_at8(r, LOAD_ONCE(&l->buf_ref), v->buf_size);
	v->policy = LOAD_ONCE(&h->policy);
	v->end_room = LOAD_ONCE(&h->end_room);
	return v->statics != NULL && v->locals != NULL && v->scratch != NULL &&
	    v->buf != NULL;
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
	vars_view(store, LOAD_ONCE(&v->store->dyn_ref), im, &v->dyn);
	v->spec = region_at8(
	    store, LOAD_ONCE(&l->spec_ref), spec_size(im->nspec, im->specsize));
	v->lane = l;
	return true;
}
