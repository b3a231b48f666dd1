/*
 * Aggregations of one lane: two areas like this, of which one is written.
 *
 *	ref
 *	+---------+-----------------+--------------------------+--------+
 *	| agg_hdr | bucket[buckets] | entry, entry, ...        |  free  |
 *	+---------+-----------------+--------------------------+--------+
 *	                                                       `used'
 *
 * Entries are allocated in order and never freed one by one, so a reader goes
 * through them without the buckets.  A new entry becomes the head of its
 * bucket.  A link therefore always leads to a lower address; a link that does
 * not was changed by the target, and ends the chain.
 *
 * Words of a value:
 *	count, sum, min, max	value
 *	avg			count, sum
 *	stddev			count, sum, sum of squares (low, high 64 bits)
 *	quantize		127 buckets (dif.h)
 *	lquantize		parameters, below base, levels, at or above limit
 *	llquantize		parameters, then 2 n + 3 bins (see llq_bin())
 */
#define DLANG_VM_IMPL
#include "dlang/vm/agg.h"

#include "dlang/vm/agg_impl.h"

struct agg_hdr {
	uint32_t used;     /* [W] bytes, from ref */
	uint32_t buckets;  /* [I] power of two */
	uint32_t bucket[]; /* [W] reference of the newest entry */
};

static_assert(offsetof(struct agg_hdr, bucket) == AGG_BUCKET, "generated code");

/* The number of bytes for each bucket: about the size of a small entry. */
#ifdef DTRAP_SHRINK
#define BYTES_PER_BUCKET (1U << 20)
#else
#define BYTES_PER_BUCKET 128
#endif

/* ---- values ---- */

static int64_t
ipow(uint32_t base, uint32_t n)
{
	uint64_t v = 1;

	while (n-- > 0)
		if (__builtin_mul_overflow(v, base, &v) || v > INT64_MAX)
			return INT64_MAX;
	return (int64_t)v;
}

/* The number of bins of all orders on one side of 0. */
static uint32_t
llq_side(uint64_t param)
{
	uint32_t low = LLQUANTIZE_LOW(param), high = LLQUANTIZE_HIGH(param);

	/* No 64-bit value has an order above 63. */
	return high < low || high > 63 ?
	    0 :
	    (high - low + 1) * llquantize_bins(param);
}

uint32_t
agg_words(uint32_t func, uint64_t param)
{
	switch (func) {
#define DIF_AGG(n, NAME, name, proto, words) \
	case AGG_##NAME:                     \
		if ((words) != 0)            \
			return (words);      \
		break;
#include "dlang/dif_aggs.def"
#undef DIF_AGG
	}
	if (func == AGG_LQUANTIZE)
		return 1 + LQUANTIZE_LEVELS(param) + 2;
	if (func == AGG_LLQUANTIZE)
		return 1 + 2 * llq_side(param) + 3;
	return 0;
}

void
agg_zero(uint32_t func, uint64_t param, uint32_t words, uint64_t *value)
{
	memset(value, 0, (size_t)words * 8);
	if (words == 0)
		return;
	if (func == AGG_MIN)
		value[0] = INT64_MAX;
	else if (func == AGG_MAX)
		value[0] = (uint64_t)INT64_MIN;
	else if (func == AGG_LQUANTIZE || func == AGG_LLQUANTIZE)
		value[0] = param;
}

/* A word that a reader may read at the same time is written as a whole. */
static void
grow(uint64_t *word, uint64_t by)
{
	STORE_ONCE(word, *word + by);
}

static void
add_square(uint64_t *dst, int64_t value)
{
	uint64_t v = value < 0 ? -(uint64_t)value : (uint64_t)value;
	unsigned __int128 sum = (unsigned __int128)dst[1] << 64 | dst[0];

	sum += (unsigned __int128)v * v;
	STORE_ONCE(&dst[0], (uint64_t)sum);
	STORE_ONCE(&dst[1], (uint64_t)(sum >> 64));
}

static uint32_t
quantize_bin(int64_t value)
{
	if (value == 0)
		return QUANTIZE_ZERO;
	uint64_t v = value < 0 ? -(uint64_t)value : (uint64_t)value;
	uint32_t k = 64 - (uint32_t)__builtin_clzll(v);
	/* -2^63 would need a bucket of its own: it is counted in the last
	 * one. */
	if (value < 0)
		return k > QUANTIZE_ZERO ? 0 : QUANTIZE_ZERO - k;
	return QUANTIZE_ZERO + k;
}

static uint32_t
lquantize_bin(uint64_t param, int64_t value)
{
	int32_t base = LQUANTIZE_BASE(param);
	uint32_t step = LQUANTIZE_STEP(param);
	uint32_t levels = LQUANTIZE_LEVELS(param);

	if (value < base || step == 0)
		return 0;
	uint64_t level = ((uint64_t)value - (uint64_t)(int64_t)base) / step;
	return level < levels ? (uint32_t)level + 1 : levels + 1;
}

/*
 * llquantize: an order of magnitude m covers [f^m, f^(m+1)) and is divided in
 * nsteps linear steps of f^(m+1) / nsteps; the first nsteps / f of them lie
 * below f^m and belong to lower orders, which leaves nsteps - nsteps / f bins
 * (llquantize_bins()).  Negative values mirror positive ones.  The order of bins:
 *
 *	0	   1 .. n	     n + 1	 n + 2 .. 2n + 1   2n + 2
 *	<= -f^(h+1)  downwards to    |v| < f^l   upwards from      >= f^(h+1)
 *		   -f^l				 f^l
 *
 * The bin of order l's first step is n on the negative side and n + 2 on the
 * positive.  With l = 0 and nsteps > f some bins hold no integer; they are
 * there all the same, so that places can be computed.
 */
static uint32_t
llq_bin(uint64_t param, int64_t value)
{
	uint32_t factor = LLQUANTIZE_FACTOR(param);
	uint32_t steps = LLQUANTIZE_NSTEPS(param);
	uint32_t bins = llquantize_bins(param), side = llq_side(param);
	uint64_t v = value < 0 ? -(uint64_t)value : (uint64_t)value;
	uint64_t low = (uint64_t)ipow(factor, LLQUANTIZE_LOW(param));
	uint32_t place = 0; /* from 0, outwards from the middle */

	if (v < low || side == 0)
		return side + 1;
	for (; place < side; place += bins) {
		uint64_t next;
		if (__builtin_mul_overflow(low, factor, &next))
			next = UINT64_MAX;
		if (v < next) {
			/* floor(v * steps / next) < steps < 2^16: the product
			 * may take 80 bits, so divide by parts. */
			uint64_t q = v / next * steps;
			uint64_t r = v % next;
			uint64_t width = next / steps;
			/* Parameters that the compiler admits divide evenly,
			 * or next < steps and the product is small. */
			q += width != 0 && next % steps == 0 ? r / width :
							       r * steps / next;
			place += (uint32_t)(q - steps / factor);
			break;
		}
		low = next;
	}
	if (place > side)
		place = side;
	return value < 0 ? side - place : side + 2 + place;
}

uint32_t
agg_bucket(uint32_t func, uint64_t param, int64_t value)
{
	switch (func) {
	case AGG_QUANTIZE: return quantize_bin(value);
	case AGG_LQUANTIZE: return 1 + lquantize_bin(param, value);
	case AGG_LLQUANTIZE: return 1 + llq_bin(param, value);
	}
	return 0;
}

static void
value_add(const struct img_agg *agg, uint64_t *v, int64_t value, int64_t incr)
{
	switch ((enum dif_agg)agg->func) {
	case AGG_COUNT: grow(&v[0], 1); break;
	case AGG_MIN:
		if (value < (int64_t)v[0])
			STORE_ONCE(&v[0], (uint64_t)value);
		break;
	case AGG_MAX:
		if (value > (int64_t)v[0])
			STORE_ONCE(&v[0], (uint64_t)value);
		break;
	case AGG_SUM: grow(&v[0], (uint64_t)value); break;
	case AGG_STDDEV:
		add_square(v + 2, value);
		grow(&v[0], 1);
		grow(&v[1], (uint64_t)value);
		break;
	case AGG_AVG:
		grow(&v[0], 1);
		STEP();
		grow(&v[1], (uint64_t)value);
		break;
	case AGG_QUANTIZE:
	case AGG_LQUANTIZE:
	case AGG_LLQUANTIZE:
		grow(&v[agg_bucket(agg->func, agg->param, value)],
		    (uint64_t)incr);
		break;
	}
}

void
agg_difference(uint32_t func, uint32_t words, uint64_t *dst,
    const uint64_t *now, const uint64_t *before)
{
	bool has_param = func == AGG_LQUANTIZE || func == AGG_LLQUANTIZE;
	bool is_least = func == AGG_MIN || func == AGG_MAX;

	for (uint32_t i = 0; i < words; i++)
		dst[i] = is_least || (has_param && i == 0) ? now[i] :
							     now[i] - before[i];
	if (func == AGG_STDDEV && words == 4)
		dst[3] -= now[2] < before[2]; /* the borrow of the lower half */
}

void
agg_merge(uint32_t func, uint32_t words, uint64_t *dst, const uint64_t *src)
{
	uint32_t i = 0;

	switch (func) {
	case AGG_MIN:
		if ((int64_t)src[0] < (int64_t)dst[0])
			dst[0] = src[0];
		return;
	case AGG_MAX:
		if ((int64_t)src[0] > (int64_t)dst[0])
			dst[0] = src[0];
		return;
	case AGG_STDDEV:
		dst[0] += src[0];
		dst[1] += src[1];
		dst[3] += src[3] +
		    (uint64_t)__builtin_add_overflow(dst[2], src[2], &dst[2]);
		return;
	case AGG_LQUANTIZE:
	case AGG_LLQUANTIZE:
		i = 1; /* the parameters */
		break;
	}
	for (; i < words; i++)
		dst[i] += src[i];
}

/* ---- the store ---- */

static void
area_view(
    const struct region *store, uint32_t ref, uint32_t size, struct agg_view *a)
{
	struct agg_hdr *h =
	    size < sizeof(*h) ? NULL : region_at8(store, ref, size);

	if (h == NULL)
		return;
	uint32_t buckets = LOAD_ONCE(&h->buckets);
	uint64_t first = sizeof(*h) + 4 * (uint64_t)buckets;
	if (buckets == 0 || (buckets & (buckets - 1)) != 0 || first > size)
		return;
	*a = (struct agg_view){ .hdr = h,
		.ref = ref,
		.first = ref + VM_ALIGN((uint32_t)first),
		.end = ref + size,
		.mask = buckets - 1 };
}

void
agg_view(const struct region *store, const struct lane *l, struct lane_view *v)
{
	uint32_t ref = LOAD_ONCE(&l->agg_ref), size = LOAD_ONCE(&l->agg_size);

	if (size <= store->size && ref <= store->size - size)
		area_view(store, ref, size, &v->aggs[0]);
	if (v->aggs[0].hdr != NULL)
		area_view(store, ref + size, size, &v->aggs[1]);
	if (v->aggs[1].hdr == NULL)
		v->aggs[0] = (struct agg_view){ 0 };
	v->npins = LOAD_ONCE(&l->npins);
	v->pins = region_at8(store, LOAD_ONCE(&l->pins_ref),
	    v->npins * (uint64_t)sizeof(struct agg_pin));
	v->npins = v->pins != NULL ? v->npins : 0;
}

/* The number of buckets of an area of `size' bytes, and the offset of its first
 * entry. */
static uint32_t
agg_buckets(uint32_t size, uint32_t *first)
{
	uint32_t n = 1;

	while (n < size / BYTES_PER_BUCKET)
		n *= 2;
	*first = VM_ALIGN((uint32_t)sizeof(struct agg_hdr) + 4 * n);
	return n;
}

void
agg_init(const struct region *store, struct lane *l)
{
	for (uint32_t i = 0; i < 2; i++) {
		struct agg_hdr *h = l->agg_size < sizeof(*h) + 16 ?
		    NULL :
		    region_at8(
			store, l->agg_ref + i * l->agg_size, l->agg_size);
		if (h != NULL)
			h->buckets = agg_buckets(l->agg_size, &h->used);
	}
}

void
agg_reset(const struct lane_view *v)
{
	struct lane *l = v->lane;

	l->agg_area = (l->agg_area | 1) + 1; /* no pin is valid any more */
	l->agg_busy = 0;
	l->npins = v->npins;
	l->pins_ref =
	    v->npins > 0 ? (uint32_t)((uint8_t *)v->pins - v->base) : 0;
	l->agg_ref = v->aggs[0].ref;
	l->agg_size = v->aggs[0].end - v->aggs[0].ref;
	for (uint32_t i = 0; i < 2; i++) {
		const struct agg_view *a = &v->aggs[i];
		if (a->hdr == NULL)
			continue;
		memset(a->hdr->bucket, 0, 4 * ((size_t)a->mask + 1));
		a->hdr->buckets = a->mask + 1;
		a->hdr->used = a->first - a->ref;
	}
}

uint64_t
agg_entry_size(uint32_t key_size, uint32_t words)
{
	return sizeof(struct agg_entry) + VM_ALIGN((uint64_t)key_size) +
	    8 * (uint64_t)words;
}

bool
agg_holds(uint32_t size, uint32_t data)
{
	uint32_t first;

	size &= ~7U;
	agg_buckets(size, &first);
	return (uint64_t)first + agg_entry_size(data, 0) <= size;
}

/* The bytes of a key without the words at its end that are 0. */
static uint32_t
used_of(const uint8_t *key, uint32_t size)
{
	uint64_t w = size & 7;

	for (; w == 0 && size > AGG_HASH_ALL; size -= 8) {
		memcpy(&w, key + size - 8, 8);
		if (w != 0)
			break;
	}
	return size;
}

uint32_t
agg_key_hash(uint64_t id, const void *key, uint32_t size)
{
	uint64_t h = AGG_HASH_BEGIN(id), w;
	const uint8_t *p = key;

	size = used_of(key, size);
	for (; size >= 8; size -= 8, p += 8) {
		memcpy(&w, p, 8);
		h = (h ^ w) * AGG_HASH_FACTOR;
		h ^= h >> 32;
	}
	if (size > 0) {
		w = 0;
		memcpy(&w, p, size);
		h = (h ^ w) * AGG_HASH_FACTOR;
		h ^= h >> 32;
	}
	return (uint32_t)h;
}

/* Are `size' bytes from ref on within the area?  ref itself is. */
static bool
fits(const struct agg_view *a, uint32_t ref, uint64_t size)
{
	return size <= a->end - ref;
}

/* Most keys are empty or one word. */
static bool
same_key(const uint8_t *a, const void *b, uint32_t size)
{
	uint64_t x, y;

	if (size != 8)
		return size == 0 || memcmp(a, b, size) == 0;
	memcpy(&x, a, 8);
	memcpy(&y, b, 8);
	return x == y;
}

static struct agg_entry *
find(const struct lane_view *v, const struct agg_view *a, uint32_t hash,
    const struct img_agg *agg, const void *key, uint32_t cpu)
{
	uint64_t size = agg_entry_size(agg->key_size, agg->words);
	uint32_t prev = a->end;
	uint32_t ref = LOAD_ONCE(&a->hdr->bucket[hash & a->mask]);

	while (ref >= a->first && ref < prev && (ref & 7) == 0 &&
	    fits(a, ref, sizeof(struct agg_entry))) {
		struct agg_entry *e = (void *)(v->base + ref);
		if (e->hash == hash && e->id == agg->id && e->cpu == cpu &&
		    e->key_size == agg->key_size && fits(a, ref, size) &&
		    same_key(e->data, key, agg->key_size))
			return e;
		prev = ref;
		ref = LOAD_ONCE(&e->next_ref);
	}
	return NULL;
}

static struct agg_entry *
add(const struct lane_view *v, const struct agg_view *a, uint32_t hash,
    const struct img_agg *agg, const void *key, uint32_t cpu)
{
	uint64_t size = agg_entry_size(agg->key_size, agg->words);
	uint32_t used = LOAD_ONCE(&a->hdr->used);
	uint32_t limit = a->end - a->ref;

	if (used < a->first - a->ref || used > limit || used & 7 ||
	    size > limit - used) {
		v->lane->drops[DROP_AGG]++;
		return NULL;
	}
	uint32_t ref = a->ref + used;
	struct agg_entry *e = (void *)(v->base + ref);
	uint32_t *bucket = &a->hdr->bucket[hash & a->mask];
	e->next_ref = LOAD_ONCE(bucket);
	e->id = (uint16_t)agg->id;
	e->hash = hash;
	e->key_size = agg->key_size;
	e->words = agg->words;
	e->cpu = (uint16_t)cpu;
	e->updates = 0;
	memset(e->data, 0, VM_ALIGN((size_t)agg->key_size));
	memcpy(e->data, key, agg->key_size);
	agg_zero(agg->func, agg->param, agg->words,
	    (uint64_t *)(e->data + VM_ALIGN((size_t)agg->key_size)));
	*bucket = ref;
	STORE_RELEASE(&a->hdr->used, used + (uint32_t)size);
	return e;
}

static void
update(const struct lane_view *v, const struct img_agg *agg, const void *key,
    uint32_t cpu, int64_t value, int64_t increment, struct agg_pin *pin)
{
	uint32_t area = LOAD_ACQUIRE(&v->lane->agg_area);
	const struct agg_view *a = &v->aggs[area & 1];
	uint32_t hash = agg_key_hash(agg->id, key, agg->key_size) ^ cpu;
	struct agg_entry *e = find(v, a, hash, agg, key, cpu);

	STEP();
	if (e == NULL)
		e = add(v, a, hash, agg, key, cpu);
	if (e == NULL)
		return;
	value_add(agg, (uint64_t *)(e->data + VM_ALIGN((size_t)agg->key_size)),
	    value, increment);
	STORE_ONCE(&e->updates, e->updates + 1);
	if (pin != NULL)
		*pin = (struct agg_pin){ (uint32_t)((uint8_t *)e - v->base),
			area };
}

void
agg_update(const struct lane_view *v, const struct img_agg *agg,
    const void *key, uint32_t cpu, int64_t value, int64_t increment,
    uint32_t pin)
{
	uint32_t busy = LOAD_ONCE(&v->lane->agg_busy) | 1;

	if (v->aggs[0].hdr == NULL) {
		v->lane->drops[DROP_AGG]++;
		return;
	}
	/* The reader's barrier orders this before what follows (agg_flip()). */
	__atomic_store_n(&v->lane->agg_busy, busy, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	STEP();
	update(v, agg, key, cpu, value, increment,
	    pin < v->npins ? &v->pins[pin] : NULL);
	STEP();
	STORE_RELEASE(&v->lane->agg_busy, busy + 1);
}

const struct agg_entry *
agg_next(const struct lane_view *v, uint32_t area, uint32_t *cookie)
{
	const struct agg_view *a = &v->aggs[area & 1];

	if (a->hdr == NULL)
		return NULL;
	uint32_t ref = *cookie != 0 ? *cookie : a->first;
	uint32_t used = LOAD_ACQUIRE(&a->hdr->used);
	if (used > a->end - a->ref || ref < a->first ||
	    (uint64_t)ref + sizeof(struct agg_entry) > (uint64_t)a->ref + used)
		return NULL;
	const struct agg_entry *e = (const void *)(v->base + ref);
	uint64_t size =
	    agg_entry_size(LOAD_ONCE(&e->key_size), LOAD_ONCE(&e->words));
	if (size > a->ref + (uint64_t)used - ref)
		return NULL;
	*cookie = ref + (uint32_t)size;
	return e;
}

void
agg_flip(const struct lane_view *v, uint32_t area)
{
	const struct agg_view *a = &v->aggs[area & 1];
	uint32_t next = LOAD_ONCE(&v->lane->agg_area) + 1;

	memset(a->hdr->bucket, 0, 4 * ((size_t)a->mask + 1));
	STORE_RELEASE(&a->hdr->used, a->first - a->ref);
	STEP();
	__atomic_store_n(
	    &v->lane->agg_area, next + ((next ^ area) & 1), __ATOMIC_SEQ_CST);
}

bool
agg_is_busy(const struct lane_view *v, uint32_t *since)
{
	uint32_t busy = LOAD_ACQUIRE(&v->lane->agg_busy);

	if (*since == 0)
		*since = busy;
	return (busy & 1) != 0 && busy == *since;
}

uint32_t
agg_fill(const struct lane_view *v)
{
	const struct agg_view *a = &v->aggs[LOAD_ONCE(&v->lane->agg_area) & 1];

	if (a->hdr == NULL)
		return 256;
	uint64_t used = LOAD_ONCE(&a->hdr->used);
	uint32_t size = a->end - a->ref;
	return used >= size ? 256 : (uint32_t)(used * 256 / size);
}
