/*
 * Aggregations of a page.
 *
 * An aggregation may be printed many times.  Its values grow from one print to
 * the next until clear() begins them anew (member "since").  So what it has
 * counted in all is what each print before a clear() had, and the last one; and
 * what it has counted between two prints is their difference.
 */
#include <stdlib.h>
#include <string.h>

#include "tracer/consume/page_impl.h"

int64_t
sum_clamped(int64_t a, int64_t b)
{
	int64_t sum;

	if (!__builtin_add_overflow(a, b, &sum))
		return sum;
	return a < 0 ? INT64_MIN : INT64_MAX;
}

static uint64_t
size_of(int64_t v)
{
	return v < 0 ? -(uint64_t)v : (uint64_t)v;
}

/* ---- one print ---- */

void
print_init(struct page_print *r)
{
	*r = (struct page_print){ .tree = tree_create() };
}

static void
row_fini(struct page_row *row)
{
	mem_free(row->text);
	vec_fini(&row->buckets);
}

void
print_fini(struct page_print *r)
{
	str_fini(&r->name);
	str_fini(&r->function);
	tree_destroy(r->tree);
	vec_foreach(row, &r->rows)
		row_fini(row);
	vec_fini(&r->rows);
	*r = (struct page_print){ 0 };
}

static int
row_compare(const void *a, const void *b)
{
	const struct page_row *x = a, *y = b;
	uint64_t l = size_of(x->value), r = size_of(y->value);

	if (l != r)
		return l > r ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* Keep the largest. */
static void
rows_reduce(struct page_print *r, size_t most)
{
	if (r->rows.len > 1)
		qsort(
		    r->rows.at, r->rows.len, sizeof(*r->rows.at), row_compare);
	while (r->rows.len > most)
		row_fini(&vec_pop(&r->rows));
}

void
print_row(struct page_print *r, const struct page_row *row)
{
	size_t most = r->is_hist ? PAGE_KEYS / 4 : PAGE_KEYS;

	*vec_push(&r->rows) = *row;
	r->total = sum_clamped(r->total, row->value);
	if (r->rows.len >= 2 * most)
		rows_reduce(r, most);
}

/* ---- columns: prints over time ---- */

static int
cell_compare(const void *a, const void *b)
{
	const struct page_cell *x = a, *y = b;

	if (x->column != y->column)
		return x->column < y->column ? -1 : 1;
	return x->value < y->value ? -1 : x->value > y->value;
}

static void
cells_halve(struct page_entry *e)
{
	size_t n = 0;

	vec_foreach(c, &e->cells)
		c->column /= 2;
	if (e->cells.len > 1)
		qsort(e->cells.at, e->cells.len, sizeof(*e->cells.at),
		    cell_compare);
	vec_foreach(c, &e->cells) {
		if (n != 0 && cell_compare(&e->cells.at[n - 1], c) == 0)
			e->cells.at[n - 1].count =
			    sum_clamped(e->cells.at[n - 1].count, c->count);
		else
			e->cells.at[n++] = *c;
	}
	e->cells.len = n;
}

static void
series_halve(struct page_entry *e, size_t columns)
{
	if (e->series == NULL)
		return;
	for (size_t i = 0; i < PAGE_COLUMNS; i++) {
		size_t last = 2 * i + 1 < columns ? 2 * i + 1 : 2 * i;
		e->has[i] = false;
		for (size_t at = last + 1; at-- > 2 * i && !e->has[i];)
			if (at < columns && e->has[at]) {
				e->series[i] = e->series[at];
				e->has[i] = true;
			}
	}
}

static void
columns_halve(struct page_agg *a)
{
	size_t n = a->times.len;

	for (size_t i = 0; 2 * i < n; i++)
		a->times.at[i] = a->times.at[MIN(2 * i + 1, n - 1)];
	a->times.len = (n + 1) / 2;
	vec_foreach(e, &a->entries) {
		series_halve(*e, n);
		cells_halve(*e);
	}
	a->stride *= 2;
}

static size_t
column_next(struct page_agg *a, uint64_t time)
{
	if (a->prints / a->stride >= PAGE_COLUMNS)
		columns_halve(a);
	size_t column = (size_t)(a->prints / a->stride);
	while (a->times.len <= column)
		*vec_push(&a->times) = time;
	a->times.at[column] = time;
	return column;
}

bool
page_bucket_same(const struct page_bucket *a, const struct page_bucket *b)
{
	return a->value == b->value && a->open_below == b->open_below &&
	    a->open_above == b->open_above;
}

static int64_t
bucket_count(const page_buckets *all, const struct page_bucket *b)
{
	vec_foreach(other, all)
		if (page_bucket_same(other, b))
			return other->count;
	return 0;
}

/* The cells of a column: what was added since the last print. */
static void
cells_add(struct page_entry *e, size_t column, const page_buckets *now)
{
	vec_foreach(b, now) {
		int64_t more = b->count - bucket_count(&e->buckets, b);
		if (more == 0 || e->cells.len >= PAGE_CELLS)
			continue;
		*vec_push(&e->cells) =
		    (struct page_cell){ (uint32_t)column, b->value, more };
	}
}

/* ---- keys ---- */

static void
entry_destroy(struct page_entry *e)
{
	mem_free(e->text);
	mem_free(e->series);
	mem_free(e->has);
	vec_fini(&e->buckets);
	vec_fini(&e->buckets_before);
	vec_fini(&e->cells);
	mem_free(e);
}

static uint64_t
entry_size(const struct page_entry *e)
{
	return size_of(sum_clamped(e->value, e->before));
}

static int
entry_compare(const void *a, const void *b)
{
	const struct page_entry *x = *(struct page_entry *const *)a;
	const struct page_entry *y = *(struct page_entry *const *)b;
	uint64_t l = entry_size(x), r = entry_size(y);

	if (l != r)
		return l > r ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* Keep the largest. */
static void
entries_reduce(struct page_agg *a, size_t most)
{
	if (a->entries.len > 1)
		qsort(a->entries.at, a->entries.len, sizeof(*a->entries.at),
		    entry_compare);
	while (a->entries.len > most) {
		struct page_entry *e = vec_pop(&a->entries);
		hash_remove(&a->by_id, e->id);
		a->followed -= e->series != NULL;
		entry_destroy(e);
	}
}

static struct page_entry *
entry_of(struct page_agg *a, struct page_row *row)
{
	struct page_entry *e = hash_get(&a->by_id, row->id);

	if (e != NULL)
		return e;
	if (a->entries.len >= (size_t)2 * PAGE_KEYS)
		entries_reduce(a, PAGE_KEYS);
	e = mem_zalloc(sizeof(*e));
	e->id = row->id;
	e->text = row->text;
	row->text = NULL;
	hash_set(&a->by_id, e->id, e);
	*vec_push(&a->entries) = e;
	return e;
}

static void
entry_follow(struct page_agg *a, struct page_entry *e)
{
	if (e->series != NULL || a->followed >= PAGE_SERIES)
		return;
	a->followed++;
	e->series = mem_zalloc(PAGE_COLUMNS * sizeof(*e->series));
	e->has = mem_zalloc(PAGE_COLUMNS * sizeof(*e->has));
}

static void
entry_set(struct page_agg *a, struct page_row *row, size_t column)
{
	struct page_entry *e = entry_of(a, row);

	entry_follow(a, e);
	e->order = row->order;
	e->seen = true;
	e->value = row->value;
	if (e->series != NULL) {
		e->series[column] = row->value;
		e->has[column] = true;
		cells_add(e, column, &row->buckets);
	}
	vec_fini(&e->buckets);
	e->buckets = row->buckets;
	row->buckets = (page_buckets){ 0 };
}

/* ---- what was counted before a clear() ---- */

static void
buckets_add(page_buckets *to, const page_buckets *from)
{
	vec_foreach(b, from) {
		struct page_bucket *same = NULL;
		vec_foreach(other, to)
			if (page_bucket_same(other, b))
				same = other;
		if (same != NULL)
			same->count = sum_clamped(same->count, b->count);
		else
			*vec_push(to) = *b;
	}
}

bool
page_agg_adds(const struct page_agg *a)
{
	return a->is_hist || strcmp(a->function, "count") == 0 ||
	    strcmp(a->function, "sum") == 0;
}

/* What two values of before and after a clear() are in all; of means and
 * deviations the later one is told. */
static int64_t
values_join(const struct page_agg *a, int64_t before, int64_t now)
{
	if (page_agg_adds(a))
		return sum_clamped(before, now);
	if (strcmp(a->function, "min") == 0)
		return MIN(before, now);
	if (strcmp(a->function, "max") == 0)
		return MAX(before, now);
	return now;
}

static int64_t
entry_total(const struct page_agg *a, const struct page_entry *e)
{
	if (!e->seen)
		return e->before;
	return e->once ? values_join(a, e->before, e->value) : e->value;
}

static void
agg_cleared(struct page *p, struct page_agg *a)
{
	if (a->tree_before == NULL)
		a->tree_before = tree_create();
	tree_merge(p, a->tree_before, 0, p, a->tree);
	a->total_before = values_join(a, a->total_before, a->total);
	vec_foreach(at, &a->entries) {
		struct page_entry *e = *at;
		e->before = entry_total(a, e);
		e->once |= e->seen;
		e->seen = false;
		buckets_add(&e->buckets_before, &e->buckets);
		e->value = 0;
		vec_clear(&e->buckets);
	}
}

static bool
bucket_is_before(const struct page_bucket *a, const struct page_bucket *b)
{
	if (a->open_below != b->open_below)
		return a->open_below;
	if (a->open_above != b->open_above)
		return b->open_above;
	return a->low != b->low ? a->low < b->low : a->value < b->value;
}

static int
bucket_compare(const void *a, const void *b)
{
	return bucket_is_before(a, b) ? -1 : bucket_is_before(b, a);
}

void
page_buckets_sort(page_buckets *b)
{
	if (b->len > 1)
		qsort(b->at, b->len, sizeof(*b->at), bucket_compare);
}

void
page_agg_finish(struct page *p, struct page_agg *a)
{
	if (a->tree_before != NULL) {
		tree_merge(p, a->tree_before, 0, p, a->tree);
		tree_destroy(a->tree);
		a->tree = a->tree_before;
		a->tree_before = NULL;
	}
	a->total = values_join(a, a->total_before, a->total);
	vec_foreach(at, &a->entries) {
		struct page_entry *e = *at;
		e->value = entry_total(a, e);
		e->before = 0;
		e->seen = true;
		e->once = false;
		buckets_add(&e->buckets, &e->buckets_before);
		vec_clear(&e->buckets_before);
		page_buckets_sort(&e->buckets);
	}
	a->total_before = 0;
	entries_reduce(a, a->is_hist ? PAGE_HISTS : PAGE_KEYS);
}

static int
order_compare(const void *a, const void *b)
{
	const struct page_entry *x = *(struct page_entry *const *)a;
	const struct page_entry *y = *(struct page_entry *const *)b;

	return x->order < y->order ? -1 : x->order > y->order;
}

void
page_agg_order(struct page_agg *a)
{
	if (a->entries.len > 1)
		qsort(a->entries.at, a->entries.len, sizeof(*a->entries.at),
		    order_compare);
}

/* ---- aggregations ---- */

static struct page_agg *
agg_of(struct page *p, const struct page_print *r)
{
	vec_foreach(at, &p->aggs)
		if (strcmp((*at)->name, str_c(&r->name)) == 0 &&
		    strcmp((*at)->function, str_c(&r->function)) == 0)
			return *at;
	if (p->aggs.len >= PAGE_AGGS) {
		p->aggs_left++;
		return NULL;
	}
	struct page_agg *a = mem_zalloc(sizeof(*a));
	a->name = mem_strdup(str_c(&r->name));
	a->function = mem_strdup(str_c(&r->function));
	a->tree = tree_create();
	a->stride = 1;
	a->since = r->since;
	*vec_push(&p->aggs) = a;
	return a;
}

void
page_agg_destroy(struct page_agg *a)
{
	mem_free(a->name);
	mem_free(a->function);
	tree_destroy(a->tree);
	tree_destroy(a->tree_before);
	hash_fini(&a->by_id);
	vec_foreach(e, &a->entries)
		entry_destroy(*e);
	vec_fini(&a->entries);
	vec_fini(&a->times);
	mem_free(a);
}

void
page_printed(struct page *p, struct page_print *r, uint64_t time)
{
	struct page_agg *a = agg_of(p, r);

	if (a == NULL) {
		print_fini(r);
		return;
	}
	if (a->since != r->since)
		agg_cleared(p, a);
	a->since = r->since;
	a->is_stacks |= r->is_stacks && page_agg_adds(a);
	a->is_hist |= r->is_hist;
	size_t column = column_next(a, time);
	a->prints++;
	a->keys = MAX(a->keys, r->keys);
	a->stacks = r->tree->stacks != 0 ? r->tree->stacks : a->stacks;
	a->total = r->total;
	tree_destroy(a->tree);
	a->tree = r->tree;
	r->tree = NULL;
	vec_foreach(at, &a->entries)
		(*at)->seen = false;
	rows_reduce(r, SIZE_MAX);
	vec_foreach(row, &r->rows)
		entry_set(a, row, column);
	vec_foreach(at, &a->entries) {
		struct page_entry *e = *at;
		if (e->seen)
			continue;
		e->value = 0;
		vec_clear(&e->buckets);
	}
	print_fini(r);
}

void
page_bucket_label(
    const struct page_agg *a, const struct page_bucket *b, struct str *to)
{
	const char *mark = "";

	if (b->open_below)
		mark = strcmp(a->function, "llquantize") == 0 ? "<= " : "< ";
	else if (b->open_above)
		mark = ">= ";
	else if (b->value > b->high)
		mark = b->low < 0 ? "abs() < " : "< ";
	str_printf(to, "%s%lld", own(mark), (long long)b->value);
}
