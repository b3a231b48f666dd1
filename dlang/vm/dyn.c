/*
 * The place of dynamic variables in a store, and how they are found.
 *
 *	dyn_ref, self_ref
 *	+---------+-----------------+-------+-------+-------+---------+
 *	| dyn_hdr | bucket[buckets] | chunk | chunk | chunk |   ...   |
 *	+---------+-----------------+-------+-------+-------+---------+
 *
 * Links are chunk numbers from 1 and are checked against the number of chunks
 * before use.  A chain is followed for at most as many steps as there are
 * chunks.  So a store that the target has overwritten gives wrong values and
 * does no other harm.
 */
#define DLANG_VM_IMPL
#include "dlang/vm/dyn.h"

struct dyn_hdr {
	uint32_t buckets;    /* [I] power of two; 0: no room for any chunk */
	uint32_t bucket_ref; /* [I] uint32_t [buckets] */
	uint32_t chunks;     /* [I] */
	uint32_t chunk_ref;  /* [I] */
	uint32_t chunk_size; /* [I] bytes, multiple of 8 */
	uint32_t data;       /* [I] of these for key and value */
	uint32_t used;       /* chunks allocated so far: the first ones */
	uint32_t freed;      /* list of freed chunks */
};

static_assert(sizeof(struct dyn_hdr) == 32, "words behind it stay aligned");
static_assert(offsetof(struct dyn_hdr, used) == DYN_USED &&
	offsetof(struct dyn_hdr, freed) == DYN_FREED,
    "generated code");

static uint64_t
chunk_bytes(const struct img_hdr *im)
{
	return VM_ALIGN(sizeof(struct dyn_chunk) + (uint64_t)im->dyn_data);
}

/* One bucket for each chunk, rounded down, so chains have one or two.  The
 * shrunken build has at most two buckets, and long chains. */
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
dyn_count(const struct img_hdr *im, uint32_t dynvarsize)
{
	return im->dyn_cost != 0 ? dynvarsize / im->dyn_cost : 0;
}

uint64_t
dyn_size(const struct img_hdr *im, uint32_t count)
{
	uint64_t buckets = VM_ALIGN(4 * (uint64_t)bucket_count(count));

	return sizeof(struct dyn_hdr) + buckets + count * chunk_bytes(im);
}

void
dyn_init(const struct region *store, uint32_t ref, const struct img_hdr *im,
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
dyn_view(const struct region *store, uint32_t ref, const struct img_hdr *im,
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
dyn_reset(
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

/* Chunk number n; NULL for 0 and for invalid numbers. */
static struct dyn_chunk *
chunk_at(const struct dyn_view *d, uint32_t n)
{
	if (n == 0 || n > d->chunks)
		return NULL;
	return (void *)(d->chunk + (uint64_t)(n - 1) * d->chunk_size);
}

static bool
chunk_is(const struct dyn_chunk *c, const struct dyn_key *k)
{
	return c->hash == k->hash && c->id == k->id && c->thread == k->thread &&
	    c->key_size == k->size && memcmp(c->data, k->bytes, k->size) == 0;
}

struct dyn_chunk *
dyn_lookup(const struct dyn_view *d, const struct dyn_key *k, uint32_t **link)
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

struct dyn_chunk *
dyn_add(const struct dyn_view *d, const struct dyn_key *k)
{
	uint32_t n = LOAD_ONCE(&d->hdr->freed);
	struct dyn_chunk *c = chunk_at(d, n);

	if (c != NULL) {
		d->hdr->freed = LOAD_ONCE(&c->next);
	} else {
		n = LOAD_ONCE(&d->hdr->used);
		c = n >= d->chunks ? NULL : chunk_at(d, ++n);
		if (c == NULL)
			return NULL;
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

void
dyn_free(const struct dyn_view *d, struct dyn_chunk *c, uint32_t *link)
{
	uint32_t n = (uint32_t)(((uint8_t *)c - d->chunk) / d->chunk_size) + 1;

	*link = c->next;
	c->id = 0;
	c->next = d->hdr->freed;
	d->hdr->freed = n;
}

/* False: there is no room. */
static bool
copy(const struct dyn_view *to, const struct dyn_key *k, uint32_t room)
{
	uint32_t *link;
	struct dyn_chunk *c = dyn_lookup(to, k, &link);

	if (c == NULL)
		c = dyn_add(to, k);
	if (c == NULL)
		return false;
	memcpy(c->data + k->size, k->bytes + k->size, room - k->size);
	return true;
}

uint32_t
dyn_move(
    const struct dyn_view *from, const struct dyn_view *to, uint64_t thread)
{
	uint32_t lost = 0, room, *link;

	if (from->hdr == NULL || to->hdr == NULL)
		return 0;
	room = VM_MIN(from->chunk_size, to->chunk_size) -
	    (uint32_t)sizeof(struct dyn_chunk);
	for (uint32_t n = VM_MIN(LOAD_ONCE(&from->hdr->used), from->chunks);
	     n > 0; n--) {
		struct dyn_chunk *c = chunk_at(from, n);
		if (c == NULL || LOAD_ONCE(&c->thread) != thread)
			continue;
		struct dyn_key k = { .bytes = c->data,
			.size = LOAD_ONCE(&c->key_size),
			.thread = thread,
			.id = LOAD_ONCE(&c->id),
			.hash = LOAD_ONCE(&c->hash) };
		if (k.id == 0 || k.size > room)
			continue;
		lost += !copy(to, &k, room);
		if (dyn_lookup(from, &k, &link) == c)
			dyn_free(from, c, link);
	}
	return lost;
}

uint8_t *
dyn_writable(const struct dyn_view *d, uint32_t ref, uint64_t *room)
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
