/*
 * Aggregations of one lane.
 *
 *	agg_ref
 *	+---------+-----------------+--------------------------+--------+
 *	| agg_hdr | bucket[buckets] | entry, entry, ...        |  free  |
 *	+---------+-----------------+--------------------------+--------+
 *	                                                       `used'
 *
 * Entries are handed out in order and never freed one by one, so a reader walks
 * them without the buckets.  A new entry goes to the head of its bucket: a
 * link always leads to a lower address, and a chain that the target has tied
 * into a knot is noticed because it does not.
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
	uint32_t used;     /* [W] bytes, from agg_ref */
	uint32_t buckets;  /* [I] power of two */
	uint32_t bucket[]; /* [W] reference of the newest entry */
};

/* One bucket for so many bytes: about the size of a small entry. */
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

/* Bins of all orders on one side of 0. */
static uint32_t
llq_side(uint64_t param)
{
	uint32_t low = LLQUANTIZE_LOW(param), high = LLQUANTIZE_HIGH(param);

	/* No order above 63 holds a value. */
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

static void
add_square(uint64_t *dst, int64_t value)
{
	uint64_t v = value < 0 ? -(uint64_t)value : (uint64_t)value;
	unsigned __int128 sum = (unsigned __int128)dst[1] << 64 | dst[0];

	sum += (unsigned __int128)v * v;
	dst[0] = (uint64_t)sum;
	dst[1] = (uint64_t)(sum >> 64);
}

static uint32_t
quantize_bin(int64_t value)
{
	if (value == 0)
		return QUANTIZE_ZERO;
	uint64_t v = value < 0 ? -(uint64_t)value : (uint64_t)value;
	uint32_t k = 64 - (uint32_t)__builtin_clzll(v);
	/* -2^63 alone would need one bucket more: it joins the last. */
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
	uint32_t place = 0; /* from 0, away from the middle */

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
	case AGG_COUNT: v[0]++; break;
	case AGG_MIN:
		if (value < (int64_t)v[0])
			v[0] = (uint64_t)value;
		break;
	case AGG_MAX:
		if (value > (int64_t)v[0])
			v[0] = (uint64_t)value;
		break;
	case AGG_SUM: v[0] += (uint64_t)value; break;
	case AGG_STDDEV:
		add_square(v + 2, value);
		v[0]++;
		v[1] += (uint64_t)value;
		break;
	case AGG_AVG:
		v[0]++;
		v[1] += (uint64_t)value;
		break;
	case AGG_QUANTIZE:
	case AGG_LQUANTIZE:
	case AGG_LLQUANTIZE:
		v[agg_bucket(agg->func, agg->param, value)] += (uint64_t)incr;
		break;
	}
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

struct agg_at {
	struct agg_hdr *hdr;
	uint32_t ref, end; /* of the whole area, in the store */
	uint32_t first;    /* reference of the first entry */
	uint32_t buckets;
};

/* The lane's area, checked; false when it makes no sense. */
static bool
agg_open(const struct region *store, const struct lane *l, struct agg_at *at)
{
	uint32_t size = LOAD_ONCE(&l->agg_size);

	at->ref = LOAD_ONCE(&l->agg_ref);
	at->hdr =
	    size < sizeof(*at->hdr) ? NULL : region_at8(store, at->ref, size);
	if (at->hdr == NULL)
		return false;
	at->buckets = LOAD_ONCE(&at->hdr->buckets);
	uint64_t first = sizeof(*at->hdr) + 4 * (uint64_t)at->buckets;
	if (at->buckets == 0 || (at->buckets & (at->buckets - 1)) != 0 ||
	    first > size)
		return false;
	at->first = at->ref + VM_ALIGN((uint32_t)first);
	at->end = at->ref + size;
	return true;
}

/* How many buckets an area of so many bytes gets, and where its entries
 * begin. */
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
	struct agg_hdr *h = l->agg_size < sizeof(*h) + 16 ?
	    NULL :
	    region_at8(store, l->agg_ref, l->agg_size);

	if (h != NULL)
		h->buckets = agg_buckets(l->agg_size, &h->used);
}

static uint64_t
entry_size(uint32_t key_size, uint32_t words)
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
	return (uint64_t)first + entry_size(data, 0) <= size;
}

static uint32_t
key_hash(uint32_t id, const uint8_t *key, uint32_t size)
{
	uint64_t h = id * 0x9e3779b97f4a7c15ULL, w;

	for (; size >= 8; size -= 8, key += 8) {
		memcpy(&w, key, 8);
		h = (h ^ w) * 0xff51afd7ed558ccdULL;
		h ^= h >> 32;
	}
	if (size > 0) {
		w = 0;
		memcpy(&w, key, size);
		h = (h ^ w) * 0xff51afd7ed558ccdULL;
	}
	return (uint32_t)(h ^ h >> 32);
}

static struct agg_entry *
find(const struct region *store, const struct agg_at *at, uint32_t hash,
    const struct img_agg *agg, const void *key, uint32_t cpu)
{
	uint32_t prev = at->end;
	uint32_t ref = LOAD_ONCE(&at->hdr->bucket[hash & (at->buckets - 1)]);

	while (ref >= at->first && ref < prev) {
		uint64_t size = entry_size(agg->key_size, agg->words);
		struct agg_entry *e = region_at8(store, ref, sizeof(*e));
		if (e == NULL)
			return NULL;
		if (e->hash == hash && e->id == agg->id && e->cpu == cpu &&
		    e->key_size == agg->key_size &&
		    region_at(store, ref, size) != NULL &&
		    memcmp(e->data, key, agg->key_size) == 0)
			return e;
		prev = ref;
		ref = LOAD_ONCE(&e->next_ref);
	}
	return NULL;
}

static struct agg_entry *
add(const struct region *store, struct lane *l, const struct agg_at *at,
    uint32_t hash, const struct img_agg *agg, const void *key, uint32_t cpu)
{
	uint64_t size = entry_size(agg->key_size, agg->words);
	uint32_t used = LOAD_ONCE(&at->hdr->used);
	uint32_t limit = at->end - at->ref;

	if (used < at->first - at->ref || used > limit || used & 7 ||
	    size > limit - used) {
		l->drops[DROP_AGG]++;
		return NULL;
	}
	uint32_t ref = at->ref + used;
	struct agg_entry *e = region_at8(store, ref, size);
	uint32_t *bucket = &at->hdr->bucket[hash & (at->buckets - 1)];
	if (e == NULL)
		return NULL;
	e->next_ref = LOAD_ONCE(bucket);
	e->id = agg->id;
	e->hash = hash;
	e->key_size = agg->key_size;
	e->words = agg->words;
	e->cpu = cpu;
	memset(e->data, 0, VM_ALIGN((size_t)agg->key_size));
	memcpy(e->data, key, agg->key_size);
	agg_zero(agg->func, agg->param, agg->words,
	    (uint64_t *)(e->data + VM_ALIGN((size_t)agg->key_size)));
	*bucket = ref;
	STORE_RELEASE(&at->hdr->used, used + (uint32_t)size);
	return e;
}

void
agg_update(const struct region *store, struct lane *l,
    const struct img_agg *agg, const void *key, uint32_t cpu, int64_t value,
    int64_t increment)
{
	struct agg_at at;

	if (!agg_open(store, l, &at)) {
		l->drops[DROP_AGG]++;
		return;
	}
	uint32_t hash = key_hash(agg->id, key, agg->key_size) ^ cpu;
	struct agg_entry *e = find(store, &at, hash, agg, key, cpu);
	if (e == NULL)
		e = add(store, l, &at, hash, agg, key, cpu);
	if (e != NULL)
		value_add(agg,
		    (uint64_t *)(e->data + VM_ALIGN((size_t)agg->key_size)),
		    value, increment);
}

const struct agg_entry *
agg_next(const struct region *store, const struct lane *l, uint32_t *cookie)
{
	struct agg_at at;

	if (!agg_open(store, l, &at))
		return NULL;
	uint32_t ref = *cookie != 0 ? *cookie : at.first;
	uint32_t used = LOAD_ACQUIRE(&at.hdr->used);
	if (used > at.end - at.ref || ref < at.first ||
	    (uint64_t)ref + sizeof(struct agg_entry) > (uint64_t)at.ref + used)
		return NULL;
	const struct agg_entry *e = region_at8(store, ref, sizeof(*e));
	if (e == NULL)
		return NULL;
	uint64_t size =
	    entry_size(LOAD_ONCE(&e->key_size), LOAD_ONCE(&e->words));
	if (size > at.ref + (uint64_t)used - ref)
		return NULL;
	*cookie = ref + (uint32_t)size;
	return e;
}

void
agg_reset(const struct region *store, struct lane *l)
{
	struct agg_at at;

	if (!agg_open(store, l, &at))
		return;
	memset(at.hdr->bucket, 0, 4 * (size_t)at.buckets);
	STORE_RELEASE(&at.hdr->used, at.first - at.ref);
}

uint32_t
agg_fill(const struct region *store, const struct lane *l)
{
	struct agg_at at;

	if (!agg_open(store, l, &at))
		return 256;
	uint64_t used = LOAD_ONCE(&at.hdr->used);
	uint32_t size = at.end - at.ref;
	return used >= size ? 256 : (uint32_t)(used * 256 / size);
}
