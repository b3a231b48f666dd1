/*
 * Variables.  Globals are at fixed places in the statics, clause-locals in the
 * lane; thread-locals and associative arrays are dynamic.  A thread that has a lane
 * has its thread-locals there; else they are with the arrays:
 *
 *	dyn_ref, self_ref
 *	+---------+-----------------+-------+-------+-------+---------+
 *	| dyn_hdr | bucket[buckets] | chunk | chunk | chunk |   ...   |
 *	+---------+-----------------+-------+-------+-------+---------+
 *
 *	chunk, all of one size:
 *	+-----------+-------------------------+-----------------------+
 *	| dyn_chunk | key (may be no bytes)   | value                 |
 *	+-----------+-------------------------+-----------------------+
 *
 * A key is, for each member, one word (the value, or the length) followed by
 * the bytes of a string or struct padded to 8.  A value is one word; by
 * reference it is 8 bytes of which the first is 0xff for NULL, then the data.
 *
 * Links are chunk numbers from 1 and are checked against the number of chunks
 * before use; a chain is followed for as many steps as there are chunks, so a
 * store that the target has scribbled on gives wrong values and no more.
 *
 * One writer at a time: the arrays are the tracer's alone, and what a lane has
 * is its writer's.
 */
#define DLANG_VM_IMPL
#include "dlang/vm/vars.h"

struct dyn_hdr {
	uint32_t buckets;    /* [I] power of two; 0: no room for any chunk */
	uint32_t bucket_ref; /* [I] uint32_t [buckets] */
	uint32_t chunks;     /* [I] */
	uint32_t chunk_ref;  /* [I] */
	uint32_t chunk_size; /* [I] bytes, multiple of 8 */
	uint32_t data;       /* [I] of which key and value may take */
	uint32_t used;       /* chunks ever handed out: the first so many */
	uint32_t freed;      /* list of those that came back */
};

static_assert(sizeof(struct dyn_hdr) == 32, "words behind it stay aligned");

struct dyn_chunk {
	uint32_t next;
	uint32_t hash;
	uint32_t id;
	uint32_t key_size;
	uint64_t thread; /* 0 for associative arrays */
	uint8_t data[];
};

static_assert(sizeof(struct dyn_chunk) == 24, "words stay aligned");

static uint64_t
chunk_bytes(const struct img_hdr *im)
{
	return VM_ALIGN(sizeof(struct dyn_chunk) + (uint64_t)im->dyn_data);
}

/* One for each chunk, rounded down: chains of one or two.  In the shrunken
 * build two at most, and long chains. */
#ifdef DTRAP_SHRINK
#define BUCKETS_MOST 2
#else
#define BUCKETS_MOST (1U << 31)
#endif

static uint32_t
bucket_count(uint32_t chunks)
{
	uint32_t buckets = 1;

	while (buckets <= chunks / 2 && buckets < BUCKETS_MOST)
		buckets *= 2;
	return buckets;
}

uint32_t
vars_count(const struct img_hdr *im, uint32_t dynvarsize)
{
	return im->dyn_cost != 0 ? dynvarsize / im->dyn_cost : 0;
}

uint64_t
vars_size(const struct img_hdr *im, uint32_t count)
{
	uint64_t buckets = VM_ALIGN(4 * (uint64_t)bucket_count(count));

	return sizeof(struct dyn_hdr) + buckets + count * chunk_bytes(im);
}

void
vars_init(const struct region *store, uint32_t ref, const struct img_hdr *im,
    uint32_t count)
{
	struct dyn_hdr *h = region_at8(store, ref, sizeof(*h));

	if (count == 0 || h == NULL)
		return;
	h->buckets = bucket_count(count);
	h->bucket_ref = ref + (uint32_t)sizeof(*h);
	h->chunk_ref = VM_ALIGN(h->bucket_ref + 4 * h->buckets);
	h->chunks = count;
	h->chunk_size = (uint32_t)chunk_bytes(im);
	h->data = im->dyn_data;
}

void
vars_view(const struct region *store, uint32_t ref, const struct img_hdr *im,
    struct dyn_view *d)
{
	struct dyn_hdr *h = region_at8(store, ref, sizeof(*h));

	if (h == NULL)
		return;
	uint32_t buckets = LOAD_ONCE(&h->buckets);
	if (buckets == 0 || (buckets & (buckets - 1)) != 0)
		return;
	d->mask = buckets - 1;
	d->bucket =
	    region_at8(store, LOAD_ONCE(&h->bucket_ref), 4 * (uint64_t)buckets);
	d->chunks = LOAD_ONCE(&h->chunks);
	d->chunk_size = LOAD_ONCE(&h->chunk_size);
	d->chunk_ref = LOAD_ONCE(&h->chunk_ref);
	d->chunk = region_at8(
	    store, d->chunk_ref, (uint64_t)d->chunks * d->chunk_size);
	if (d->bucket != NULL && d->chunk != NULL && (d->chunk_size & 7) == 0 &&
	    d->chunk_size >= sizeof(struct dyn_chunk) + (uint64_t)im->dyn_data)
		d->hdr = h;
}

void
vars_reset(
    const struct dyn_view *d, const uint8_t *base, const struct img_hdr *im)
{
	if (d->hdr == NULL)
		return;
	*d->hdr = (struct dyn_hdr){
		.buckets = d->mask + 1,
		.bucket_ref = (uint32_t)((uint8_t *)d->bucket - base),
		.chunks = d->chunks,
		.chunk_ref = d->chunk_ref,
		.chunk_size = d->chunk_size,
		.data = im->dyn_data,
	};
	memset(d->bucket, 0, 4 * ((size_t)d->mask + 1));
}

/* Chunk number n, or NULL for 0 and for what makes no sense. */
static struct dyn_chunk *
chunk_at(const struct dyn_view *d, uint32_t n)
{
	if (n == 0 || n > d->chunks)
		return NULL;
	return (void *)(d->chunk + (uint64_t)(n - 1) * d->chunk_size);
}

/* ---- keys ---- */

/* A key is built above the allocated scratch and never outlives the call. */
struct key {
	uint8_t *bytes;
	uint32_t size, room;
	uint64_t thread;
	uint32_t id, hash;
};

static int
key_add(struct vm_env *env, struct key *k, uint64_t word, uint64_t addr,
    uint64_t len)
{
	if (8 + VM_ALIGN(len) > k->room - k->size) {
		vm_fault(env, FLT_NOSCRATCH, 0);
		return -1;
	}
	memcpy(k->bytes + k->size, &word, 8);
	if (len > 0) {
		uint64_t last = 0;
		memcpy(k->bytes + k->size + VM_ALIGN(len), &last, 8);
		if (vm_copy(env, k->bytes + k->size + 8, addr, len) != 0)
			return -1;
	}
	k->size += 8 + (uint32_t)VM_ALIGN(len);
	return 0;
}

static int
key_member(struct vm_env *env, struct key *k, const struct vm_tuple *t)
{
	if (t->kind == TUPLE_VALUE)
		return key_add(env, k, t->value, 0, 0);
	if (t->kind == TUPLE_BYTES) {
		if (t->size > env->at.image->dyn_data) {
			vm_fault(env, FLT_TUPOFLOW, 0);
			return -1;
		}
		return key_add(env, k, t->size, t->value, t->size);
	}
	/* A string in the target is copied to scratch first: above what the
	 * key has so far, as that is where free scratch begins. */
	uint64_t used = env->scratch_used;
	struct vm_str s;
	uint32_t limit = vm_strmax(env);
	if (t->size != 0 && t->size < limit)
		limit = (uint32_t)t->size;
	env->scratch_used += k->size;
	int error = vm_str(env, t->value, limit, &s);
	env->scratch_used = used;
	if (error)
		return -1;
	uint64_t len = s.len;
	if (8 + VM_ALIGN(len) > k->room - k->size) {
		vm_fault(env, FLT_NOSCRATCH, 0);
		return -1;
	}
	/* The copy, if any, may overlap its place in the key. */
	uint8_t *at = k->bytes + k->size;
	memmove(at + 8, s.s, len);
	memset(at + 8 + len, 0, VM_ALIGN(len) - len);
	memcpy(at, &len, 8);
	k->size += 8 + (uint32_t)VM_ALIGN(len);
	return 0;
}

static uint32_t
key_hash(const struct key *k)
{
	uint64_t h = (k->id ^ k->thread) * 0x9e3779b97f4a7c15ULL, w;

	for (uint32_t i = 0; i < k->size; i += 8) {
		memcpy(&w, k->bytes + i, 8);
		h = (h ^ w) * 0xff51afd7ed558ccdULL;
		h ^= h >> 32;
	}
	return (uint32_t)(h ^ h >> 32);
}

static int
key_build(struct vm_env *env, struct key *k, const struct img_var *v,
    const struct vm_tuple *t, uint32_t n)
{
	k->bytes = env->at.scratch + env->scratch_used;
	k->room = env->scratch_size - (uint32_t)env->scratch_used;
	k->size = 0;
	k->id = v->id;
	k->thread = v->scope == DIF_THREAD ? env->thread : 0;
	for (uint32_t i = 0; i < n; i++)
		if (key_member(env, k, &t[i]) != 0)
			return -1;
	if (k->size + (v->flags & DIF_BY_REF ? 8 + (uint64_t)v->size : 8) >
	    env->at.image->dyn_data) {
		vm_fault(env, FLT_TUPOFLOW, 0);
		return -1;
	}
	k->hash = key_hash(k);
	return 0;
}

/* ---- dynamic variables ---- */

static bool
chunk_is(const struct dyn_chunk *c, const struct key *k)
{
	return c->hash == k->hash && c->id == k->id && c->thread == k->thread &&
	    c->key_size == k->size && memcmp(c->data, k->bytes, k->size) == 0;
}

/* The chunk, and in *link the word that leads to it. */
static struct dyn_chunk *
dyn_lookup(const struct dyn_view *d, const struct key *k, uint32_t **link)
{
	*link = &d->bucket[k->hash & d->mask];
	for (uint32_t steps = 0; steps < d->chunks; steps++) {
		struct dyn_chunk *c = chunk_at(d, LOAD_ONCE(*link));
		if (c == NULL)
			return NULL;
		if (chunk_is(c, k))
			return c;
		*link = &c->next;
	}
	return NULL;
}

/* A chunk with this key and no value, linked; NULL and a drop. */
static struct dyn_chunk *
dyn_add(struct vm_env *env, const struct dyn_view *d, const struct key *k)
{
	uint32_t n = LOAD_ONCE(&d->hdr->freed);
	struct dyn_chunk *c = chunk_at(d, n);

	if (c != NULL) {
		d->hdr->freed = LOAD_ONCE(&c->next);
	} else {
		n = LOAD_ONCE(&d->hdr->used);
		c = n >= d->chunks ? NULL : chunk_at(d, ++n);
		if (c == NULL) {
			env->at.lane->drops[DROP_DYNAMIC]++;
			return NULL;
		}
		d->hdr->used = n;
	}
	uint32_t *bucket = &d->bucket[k->hash & d->mask];
	c->next = *bucket;
	c->hash = k->hash;
	c->id = k->id;
	c->thread = k->thread;
	c->key_size = k->size;
	memcpy(c->data, k->bytes, k->size);
	*bucket = n;
	return c;
}

static void
dyn_free(const struct dyn_view *d, struct dyn_chunk *c, uint32_t *link)
{
	uint32_t n = (uint32_t)(((uint8_t *)c - d->chunk) / d->chunk_size) + 1;

	*link = c->next;
	c->id = 0;
	c->next = d->hdr->freed;
	d->hdr->freed = n;
}

/* ---- values by reference ---- */

/* What a load gives of the value at p, which is at a VM address. */
static uint64_t
value_load(const struct img_var *v, const uint8_t *p, uint64_t addr)
{
	uint64_t word;

	if (v->flags & DIF_BY_REF)
		return *p == 0xff ? 0 : addr + 8;
	memcpy(&word, p, 8);
	return word;
}

static int
value_store(
    struct vm_env *env, const struct img_var *v, uint8_t *p, uint64_t value)
{
	if (!(v->flags & DIF_BY_REF)) {
		memcpy(p, &value, 8);
		return 0;
	}
	if (value == 0) {
		*p = 0xff;
		return 0;
	}
	int error = v->flags & IMG_VAR_STRING ?
	    vm_copy_str(env, (char *)p + 8, value, v->size) :
	    vm_copy(env, p + 8, value, v->size);
	if (error == 0)
		*p = 0;
	return error;
}

/* ---- the door ---- */

/* The variable's row; ids of one program are dense, so the first guess is
 * nearly always right.  The verifier has seen that it exists. */
static const struct img_var *
var_lookup(const struct vm_env *env, enum dif_scope scope, uint32_t id)
{
	const struct img_hdr *im = env->at.image;
	const struct img_var *v =
	    (const void *)(env->image.base + im->vars_ref);
	uint32_t guess = id - DIF_VAR_USER, lo = 0, hi = im->nvars;

	if (guess < im->nvars && v[guess].id == id && v[guess].scope == scope)
		return &v[guess];
	/* Sorted by id, then scope. */
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (v[mid].id < id || (v[mid].id == id && v[mid].scope < scope))
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < im->nvars && v[lo].id == id && v[lo].scope == scope)
		return &v[lo];
	return NULL;
}

/* Memory of a global or clause-local, and its VM address; NULL where there are
 * no globals. */
static uint8_t *
static_at(const struct vm_env *env, const struct img_var *v, uint64_t *addr)
{
	const struct lane_view *own = vm_own(env);

	if (v->scope == DIF_GLOBAL) {
		*addr = VMA(VMA_STORE, (uint64_t)env->at.statics_ref + v->off);
		return env->at.statics == NULL ? NULL :
						 env->at.statics + v->off;
	}
	*addr = VMA(lane_region(own), (uint64_t)own->locals_ref + v->off);
	return own->locals + v->off;
}

/* Where a dynamic variable of this scope is, and from where its address
 * counts. */
static const struct dyn_view *
dyn_of(const struct vm_env *env, enum dif_scope scope, uint64_t *region)
{
	const struct lane_view *own = vm_own(env);

	*region = scope == DIF_THREAD ? lane_region(own) : VMA_STORE;
	return scope == DIF_THREAD ? &own->self : &env->at.dyn;
}

uint64_t
vars_load(struct vm_env *env, enum dif_scope scope, uint32_t id,
    const struct vm_tuple *key, uint32_t nkeys, bool assoc)
{
	const struct img_var *v = var_lookup(env, scope, id);
	uint64_t region, addr;
	const struct dyn_view *d = dyn_of(env, scope, &region);
	struct key k;
	uint32_t *link;

	if (v == NULL) {
		vm_fault(env, FLT_ILLOP, id);
		return 0;
	}
	if (scope != DIF_THREAD && !assoc) {
		const uint8_t *p = static_at(env, v, &addr);
		if (p != NULL)
			return value_load(v, p, addr);
		vm_fault(env, FLT_ILLOP, id);
		return 0;
	}
	if (key_build(env, &k, v, key, nkeys) != 0 || d->hdr == NULL)
		return 0;
	struct dyn_chunk *c = dyn_lookup(d, &k, &link);
	if (c == NULL)
		return 0;
	const uint8_t *p = c->data + k.size;
	return value_load(
	    v, p, VMA(region, d->chunk_ref + (uint64_t)(p - d->chunk)));
}

static void
dyn_store(struct vm_env *env, const struct img_var *v, const struct key *k,
    uint64_t value)
{
	uint64_t region;
	const struct dyn_view *d =
	    dyn_of(env, (enum dif_scope)v->scope, &region);
	uint32_t *link;

	if (d->hdr == NULL) {
		if (value != 0)
			env->at.lane->drops[DROP_DYNAMIC]++;
		return;
	}
	struct dyn_chunk *c = dyn_lookup(d, k, &link);
	if (value == 0) {
		if (c != NULL)
			dyn_free(d, c, link);
		return;
	}
	bool added = c == NULL;
	if (added && (c = dyn_add(env, d, k)) == NULL)
		return;
	if (value_store(env, v, c->data + k->size, value) != 0 && added)
		dyn_free(d, c, &d->bucket[k->hash & d->mask]);
}

void
vars_store(struct vm_env *env, enum dif_scope scope, uint32_t id,
    const struct vm_tuple *key, uint32_t nkeys, bool assoc, uint64_t value)
{
	const struct img_var *v = var_lookup(env, scope, id);
	bool dynamic = scope == DIF_THREAD || assoc;
	uint8_t *p = NULL;
	struct key k;
	uint64_t addr;

	if (v != NULL && !dynamic)
		p = static_at(env, v, &addr);
	if (v == NULL || (!dynamic && p == NULL))
		vm_fault(env, FLT_ILLOP, id);
	else if (!dynamic)
		value_store(env, v, p, value);
	else if (key_build(env, &k, v, key, nkeys) == 0)
		dyn_store(env, v, &k, value);
}

uint8_t *
vars_writable(const struct dyn_view *d, uint32_t ref, uint64_t *room)
{
	if (d->hdr == NULL || ref < d->chunk_ref)
		return NULL;
	uint32_t n = (ref - d->chunk_ref) / d->chunk_size;
	uint32_t off = (ref - d->chunk_ref) % d->chunk_size;
	const struct dyn_chunk *c = chunk_at(d, n + 1);
	if (c == NULL)
		return NULL;
	/* Past the header, the key and the NULL marker, in this chunk. */
	uint64_t data = sizeof(*c) + (uint64_t)LOAD_ONCE(&c->key_size) + 8;
	if (off < data)
		return NULL;
	*room = d->chunk_size - off;
	return d->chunk + (ref - d->chunk_ref);
}
