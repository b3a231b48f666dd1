/*
 * The consumer's copy of the aggregations: the data that was merged from the
 * lanes so far, by aggregation and key.
 *
 * A row is removed only by trunc(). clear() keeps it and marks it empty: it is
 * printed as zero even if its initial value is not zero (min, max).
 */
#include <stdlib.h>
#include <string.h>

#include "dlang/vm/agg.h"
#include "symbols/symbolise.h"
#include "tracer/consume/consume_impl.h"

void
aggs_init(struct aggs *a, const struct prog_globals *g, size_t most)
{
	*a = (struct aggs){ .globals = g, .most = most };
}

static void
agg_row_destroy(struct agg_row *row)
{
	vec_foreach(part, &row->parts)
		mem_free(part->value);
	vec_fini(&row->parts);
	mem_free(row->value);
	mem_free(row);
}

void
aggs_fini(struct aggs *a)
{
	vec_foreach(t, &a->tables) {
		vec_foreach(row, &t->rows)
			agg_row_destroy(*row);
		vec_fini(&t->rows);
	}
	vec_fini(&a->tables);
	hash_fini(&a->by_key);
}

struct agg_table *
aggs_table(struct aggs *a, uint32_t id)
{
	if (id == 0 || id > a->globals->aggs.len)
		return NULL;
	while (a->tables.len < a->globals->aggs.len)
		*vec_push(&a->tables) = (struct agg_table){ .normal = 1 };
	return &a->tables.at[id - 1];
}

static uint64_t
agg_hash(const struct prog_agg *def, const uint8_t *key)
{
	return hash_u64(agg_key_hash(def->id, key, def->key_size) ^
	    (uint64_t)def->id << 32);
}

static void
agg_row_zero(struct agg_row *row)
{
	const struct prog_agg *def = row->def;

	agg_zero(def->func, def->param, def->words, row->value);
	vec_foreach(part, &row->parts)
		agg_zero(def->func, def->param, def->words, part->value);
	row->empty = true;
}

/* Created if it does not exist. There are few, so a list is fast enough. */
static uint64_t *
agg_row_part(struct agg_row *row, uint32_t cpu)
{
	const struct prog_agg *def = row->def;
	size_t i = row->parts.len;

	vec_foreach(part, &row->parts)
		if (part->cpu == cpu)
			return part->value;
	vec_push(&row->parts);
	for (; i > 0 && row->parts.at[i - 1].cpu > cpu; i--)
		row->parts.at[i] = row->parts.at[i - 1];
	row->parts.at[i] = (struct agg_part){ .cpu = cpu,
		.value = mem_zalloc((size_t)def->words * 8) };
	agg_zero(def->func, def->param, def->words, row->parts.at[i].value);
	return row->parts.at[i].value;
}

/* The memory that a key takes, including its entries in two tables. The values
 * of single processors are not counted. */
static size_t
agg_row_size(const struct prog_agg *def)
{
	return sizeof(struct agg_row) + def->key_size + (size_t)def->words * 8 +
	    64;
}

/* NULL: there is no memory for a new one. */
static struct agg_row *
aggs_row(struct aggs *a, uint32_t id, const uint8_t *key)
{
	const struct prog_agg *def = a->globals->aggs.at[id - 1];
	uint64_t h = agg_hash(def, key);
	struct agg_row *first = hash_get(&a->by_key, h);

	for (struct agg_row *r = first; r != NULL; r = r->next)
		if (r->def == def && memcmp(r->key, key, def->key_size) == 0)
			return r;
	size_t size = agg_row_size(def);
	if (size > a->most - MIN(a->used, a->most)) {
		a->drops++;
		return NULL;
	}
	a->used += size;
	struct agg_row *row = mem_zalloc(sizeof(*row) + def->key_size);
	row->def = def;
	row->value = mem_zalloc((size_t)def->words * 8);
	memcpy(row->key, key, def->key_size);
	agg_row_zero(row);
	row->next = first;
	hash_set(&a->by_key, h, row);
	*vec_push(&a->tables.at[id - 1].rows) = row;
	return row;
}

/* Addresses in the same function, or in the same module, are one key. */
static void
agg_key_symbol(enum rec_kind kind, uint8_t *at)
{
	struct rec_sym s;

	memcpy(&s, at, sizeof(s));
	if (kind == REC_UMOD || kind == REC_MOD)
		s.addr = symbolise_module(s.space, s.addr);
	else if (kind != REC_UADDR)
		s.addr = symbolise_start(s.space, s.addr);
	s.space = addrspace_stamp_of(s.space, &s.addr, 1);
	memcpy(at, &s, sizeof(s));
}

static void
agg_key_stack(uint8_t *at, uint32_t size)
{
	struct rec_stack head;
	uint64_t *pcs = mem_alloc(size);
	size_t n = (size - sizeof(head)) / 8;

	memcpy(&head, at, sizeof(head));
	memcpy(pcs, at + sizeof(head), n * 8);
	head.space = addrspace_stamp_of(head.space, pcs, n);
	memcpy(at, &head, sizeof(head));
	mem_free(pcs);
}

static void
agg_key_symbols(const struct prog_agg *def, uint8_t *key)
{
	for (size_t i = 0; i < def->nkeys; i++) {
		const struct prog_rec *rec = &def->keys[i];

		if (rec->kind == REC_STACK &&
		    rec->size >= sizeof(struct rec_stack))
			agg_key_stack(key + rec->off, rec->size);
		else if (rec->kind >= REC_USYM && rec->kind <= REC_MOD &&
		    rec->size >= sizeof(struct rec_sym))
			agg_key_symbol(rec->kind, key + rec->off);
	}
}

void
aggs_add(struct aggs *a, uint32_t id, uint8_t *key, uint32_t cpu,
    const uint64_t *value)
{
	if (aggs_table(a, id) == NULL)
		return;
	agg_key_symbols(a->globals->aggs.at[id - 1], key);
	aggs_merge(a, id, key, cpu, value);
}

bool
aggs_merge(struct aggs *a, uint32_t id, const uint8_t *key, uint32_t cpu,
    const uint64_t *value)
{
	struct agg_row *row =
	    aggs_table(a, id) != NULL ? aggs_row(a, id, key) : NULL;

	if (row == NULL)
		return false;
	agg_merge(row->def->func, row->def->words, row->value, value);
	row->empty = false;
	if (cpu != 0)
		agg_merge(row->def->func, row->def->words,
		    agg_row_part(row, cpu - 1), value);
	return true;
}

void
aggs_clear(struct aggs *a, uint32_t id)
{
	struct agg_table *t = aggs_table(a, id);

	if (t == NULL)
		return;
	vec_foreach(row, &t->rows)
		agg_row_zero(*row);
}

static void
aggs_remove(struct aggs *a, struct agg_row *row)
{
	uint64_t h = agg_hash(row->def, row->key);
	struct agg_row *first = hash_get(&a->by_key, h);

	if (first == row && row->next == NULL) {
		hash_remove(&a->by_key, h);
	} else if (first == row) {
		hash_set(&a->by_key, h, row->next);
	} else {
		struct agg_row *r = first;
		while (r->next != row)
			r = r->next;
		r->next = row->next;
	}
	a->used -= agg_row_size(row->def);
	agg_row_destroy(row);
}

/* ---- values ---- */

bool
agg_is_hist(const struct prog_agg *def)
{
	return def->func == AGG_QUANTIZE || def->func == AGG_LQUANTIZE ||
	    def->func == AGG_LLQUANTIZE;
}

static uint64_t
agg_sqrt(unsigned __int128 x)
{
	unsigned __int128 root = 0;

	for (unsigned __int128 bit = (unsigned __int128)1 << 126; bit != 0;
	     bit >>= 2) {
		if (x >= root + bit) {
			x -= root + bit;
			root = (root >> 1) + bit;
		} else {
			root >>= 1;
		}
	}
	return (uint64_t)root;
}

/* The root of: the mean of the squares minus the square of the mean. */
static int64_t
agg_stddev(const uint64_t *value, int64_t normal)
{
	int64_t n = (int64_t)value[0];

	if (n <= 0) /* negative: the target has changed the values */
		return 0;
	unsigned __int128 squares =
	    (unsigned __int128)value[3] << 64 | value[2];
	squares = squares / (uint64_t)n / (uint64_t)normal / (uint64_t)normal;
	__int128 mean = (int64_t)value[1] / normal / n;
	unsigned __int128 square = (unsigned __int128)(mean * mean);
	return squares > square ? (int64_t)agg_sqrt(squares - square) : 0;
}

int64_t
agg_scalar(const struct prog_agg *def, const uint64_t *value, uint64_t normal)
{
	int64_t by = normal == 0 || normal > INT64_MAX ? 1 : (int64_t)normal;

	switch (def->func) {
	case AGG_COUNT: return (int64_t)(value[0] / (uint64_t)by);
	case AGG_SUM:
	case AGG_MIN:
	case AGG_MAX: return (int64_t)value[0] / by;
	case AGG_AVG:
		if ((int64_t)value[0] <= 0)
			return 0;
		return (int64_t)value[1] / by / (int64_t)value[0];
	case AGG_STDDEV: return agg_stddev(value, by);
	case AGG_QUANTIZE:
	case AGG_LQUANTIZE:
	case AGG_LLQUANTIZE: break;
	}
	return 0;
}

/* ---- order ---- */

/* What qsort_r() compares by. */
struct agg_order {
	const uint32_t *ids;
	size_t nids;
	const struct aggs *aggs;
	bool by_key, reverse;
	size_t keypos, pos;
};

static int
agg_cmp_u64(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int
agg_cmp_words(const uint8_t *a, const uint8_t *b, size_t size)
{
	for (size_t i = 0; i + 8 <= size; i += 8) {
		int r = agg_cmp_u64(value_uint(a + i, 8), value_uint(b + i, 8));
		if (r != 0)
			return r;
	}
	return 0;
}

static int
agg_cmp_syms(const uint8_t *a, const uint8_t *b)
{
	struct rec_sym x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	int r = agg_cmp_u64(x.pid, y.pid);
	if (r == 0)
		r = agg_cmp_u64(x.addr, y.addr);
	return r != 0 ? r : agg_cmp_u64(x.space, y.space);
}

static int
agg_cmp_member(const struct prog_rec *rec, const uint8_t *a, const uint8_t *b)
{
	a += rec->off;
	b += rec->off;
	switch (rec->kind) {
	case REC_INT:
		return agg_cmp_u64(
		    value_uint(a, rec->size), value_uint(b, rec->size));
	case REC_STRING:
		return strncmp((const char *)a, (const char *)b, rec->size);
	case REC_CHARS:
	case REC_BYTES:
	case REC_FLOAT: return memcmp(a, b, rec->size);
	case REC_STACK: return agg_cmp_words(a, b, rec->size);
	case REC_USYM:
	case REC_UMOD:
	case REC_UADDR:
	case REC_SYM:
	case REC_MOD: return agg_cmp_syms(a, b);
	case REC_EPID: break;
	}
	return 0;
}

/* Compare the members from keypos on, and then those before it. */
static int
agg_cmp_keys(const struct prog_agg *def, const uint8_t *a, const uint8_t *b,
    size_t keypos)
{
	for (size_t i = 0; i < def->nkeys; i++) {
		int r =
		    agg_cmp_member(&def->keys[(i + keypos) % def->nkeys], a, b);
		if (r != 0)
			return r;
	}
	return 0;
}

/* lquantize(): a value below the base counts as base - 1, one at or above the
 * limit as limit + 1. */
static long double
agg_weight_linear(const struct prog_agg *def, const int64_t *v)
{
	int64_t base = LQUANTIZE_BASE(def->param);
	int64_t step = LQUANTIZE_STEP(def->param);
	int64_t levels = LQUANTIZE_LEVELS(def->param);
	long double sum = (long double)(base - 1) * (long double)v[0];

	for (int64_t i = 0; i < levels; i++)
		sum += (long double)(base + i * step) * (long double)v[i + 1];
	return sum +
	    (long double)(base + levels * step + 1) *
	    (long double)v[levels + 1];
}

/* The sum of the histogram's buckets, each value times its count. */
static long double
agg_hist_weight(const struct prog_agg *def, const uint64_t *value)
{
	const int64_t *v = (const int64_t *)value;
	long double sum = 0;

	if (def->func == AGG_QUANTIZE) {
		for (int i = 0; i < QUANTIZE_BUCKETS; i++) {
			int k = abs(i - QUANTIZE_ZERO);
			long double at =
			    k == 0 ? 0 : (long double)(1ULL << (k - 1));
			sum +=
			    (i < QUANTIZE_ZERO ? -at : at) * (long double)v[i];
		}
		return sum;
	}
	if (def->func == AGG_LQUANTIZE)
		return agg_weight_linear(def, v + 1);
	return hist_ll_weight(def, value);
}

long double
agg_weight(const struct prog_agg *def, const struct agg_row *row)
{
	if (row == NULL || row->empty)
		return 0;
	return agg_is_hist(def) ? agg_hist_weight(def, row->value) :
				  (long double)agg_scalar(def, row->value, 1);
}

/* How often 0 was counted: 0 does not change the weight. */
static int64_t
agg_zero_bucket(const struct prog_agg *def, const uint64_t *value)
{
	return (int64_t)value[agg_bucket(def->func, def->param, 0)];
}

static int
agg_cmp_values(const struct prog_agg *def, const struct agg_row *x,
    const struct agg_row *y)
{
	if (agg_is_hist(def)) {
		long double a = agg_weight(def, x);
		long double b = agg_weight(def, y);
		if (a < b || a > b)
			return a < b ? -1 : 1;
		int64_t p = x != NULL ? agg_zero_bucket(def, x->value) : 0;
		int64_t q = y != NULL ? agg_zero_bucket(def, y->value) : 0;
		return p < q ? -1 : p > q;
	}
	long double a = agg_weight(def, x), b = agg_weight(def, y);
	return a < b ? -1 : a > b;
}

static int
agg_cmp_lines(const void *a, const void *b, void *ctx)
{
	const struct agg_line *x = a, *y = b;
	const struct agg_order *o = ctx;
	int r = 0;

	if (o->by_key)
		r = agg_cmp_keys(x->keydef, x->key, y->key, o->keypos);
	for (size_t i = 0; i < o->nids && r == 0; i++) {
		size_t n = (o->pos + i) % o->nids;
		const struct prog_agg *def =
		    o->aggs->globals->aggs.at[o->ids[n] - 1];
		r = agg_cmp_values(def, x->rows[n], y->rows[n]);
	}
	if (r == 0)
		r = agg_cmp_keys(x->keydef, x->key, y->key, o->keypos);
	return o->reverse ? -r : r;
}

/* ---- lines ---- */

/* Keys of different aggregations are equal if their members are equal. Offsets
 * and padding may differ. */
static uint64_t
agg_lines_hash(const struct prog_agg *def, const uint8_t *key)
{
	uint64_t h = 0;

	for (size_t i = 0; i < def->nkeys; i++)
		h = hash_u64(
		    h ^ hash_bytes(key + def->keys[i].off, def->keys[i].size));
	return h;
}

static bool
agg_lines_same(const struct agg_line *l, const struct agg_row *row)
{
	const struct prog_agg *a = l->keydef, *b = row->def;

	if (a->nkeys != b->nkeys)
		return false;
	for (size_t i = 0; i < a->nkeys; i++)
		if (a->keys[i].size != b->keys[i].size ||
		    memcmp(l->key + a->keys[i].off, row->key + b->keys[i].off,
			a->keys[i].size) != 0)
			return false;
	return true;
}

/* The line with the key of the row, created if it does not exist. `index' maps
 * a hash to the number of a line plus 1. A line with an equal hash is in the
 * next free entry. */
static struct agg_line *
agg_lines_at(struct agg_lines *l, struct hash *index, size_t ncells,
    const struct agg_row *row)
{
	uint64_t h = agg_lines_hash(row->def, row->key);
	uintptr_t n;

	for (; (n = (uintptr_t)hash_get(index, h)) != 0; h++)
		if (agg_lines_same(&l->at[n - 1], row))
			return &l->at[n - 1];
	struct agg_line *line = &l->at[l->len];
	*line = (struct agg_line){ .rows = l->cells + l->len * ncells,
		.key = row->key,
		.keydef = row->def };
	l->len++;
	hash_set(index, h, (void *)(uintptr_t)l->len);
	return line;
}

void
aggs_lines(struct aggs *a, const uint32_t *ids, size_t nids,
    const struct options *opts, struct agg_lines *out)
{
	struct hash index = { 0 };
	size_t max = 0;

	for (size_t i = 0; i < nids; i++)
		max += aggs_table(a, ids[i])->rows.len;
	out->len = 0;
	out->at = mem_zalloc(max * sizeof(out->at[0]));
	out->cells = mem_zalloc(max * nids * sizeof(out->cells[0]));
	for (size_t i = 0; i < nids; i++)
		vec_foreach(row, &aggs_table(a, ids[i])->rows)
			agg_lines_at(out, &index, nids, *row)->rows[i] = *row;
	hash_fini(&index);

	struct agg_order order = {
		.ids = ids,
		.nids = nids,
		.aggs = a,
		.by_key = option_get(opts, OPT_AGGSORTKEY),
		.reverse = option_get(opts, OPT_AGGSORTREV),
		.keypos = (size_t)option_get(opts, OPT_AGGSORTKEYPOS),
		.pos = (size_t)option_get(opts, OPT_AGGSORTPOS),
	};
	qsort_r(out->at, out->len, sizeof(out->at[0]), agg_cmp_lines, &order);
}

void
agg_lines_fini(struct agg_lines *l)
{
	mem_free(l->at);
	mem_free(l->cells);
}

void
aggs_trunc(struct aggs *a, uint32_t id, int64_t n)
{
	struct agg_table *t = aggs_table(a, id);
	struct agg_lines lines;
	struct options plain;

	if (t == NULL)
		return;
	options_init(&plain); /* no order but the default one */
	aggs_lines(a, &id, 1, &plain, &lines);
	options_fini(&plain);
	size_t len = lines.len;
	size_t keep = n == INT64_MIN ? len : MIN((uint64_t)llabs(n), len);
	size_t from = n >= 0 ? len - keep : 0;
	vec_clear(&t->rows);
	for (size_t i = 0; i < len; i++) {
		struct agg_row *row = (struct agg_row *)lines.at[i].rows[0];
		if (i >= from && i - from < keep)
			*vec_push(&t->rows) = row;
		else
			aggs_remove(a, row);
	}
	agg_lines_fini(&lines);
}
