/*
 * Histograms as text: quantize(), lquantize(), llquantize().
 *
 * Each is first laid out as rows, a label and a count, so that drawing them
 * knows nothing of buckets:
 *
 *	           value  ------------- Distribution ------------- count
 *	               0 |                                         0
 *	               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@              2
 *	               2 |@@@@@@@@@@@@@                            1
 *	               4 |                                         0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tracer/consume/consume_impl.h"

#define HIST_WIDTH 40 /* columns of a bar */
#define HIST_LABEL 64 /* the size of a row's label, with the NUL */

struct hist_style
hist_style(const struct options *opts)
{
	const char *encoding = opts->text[OPT_ENCODING];
	const char *term = getenv("TERM");
	bool ascii = encoding != NULL && strcasecmp(encoding, "ascii") == 0;
	bool poor = term != NULL &&
	    (strcmp(term, "sun") == 0 || strcmp(term, "sun-color") == 0 ||
		strcmp(term, "dumb") == 0);

	return (struct hist_style){
		.zoom = option_get(opts, OPT_AGGZOOM),
		.utf8 = encoding != NULL && !ascii,
		.pack_utf8 = encoding != NULL ? !ascii : !poor,
	};
}

/* ---- bars ---- */

static uint64_t
hist_abs(int64_t v)
{
	return v < 0 ? -(uint64_t)v : (uint64_t)v;
}

static void
hist_repeat(struct str *to, char c, unsigned n)
{
	while (n-- > 0)
		str_addc(to, c);
}

static unsigned
hist_length(int64_t v, double total, unsigned width)
{
	if (total <= 0)
		return 0;
	double len = (double)width * (double)hist_abs(v) / total + 0.5;
	return len >= width ? width : (unsigned)len;
}

/* Whole cells, then one of the blocks U+2589 (seven eighths) to U+258F. */
static void
hist_bar_utf8(struct str *to, int64_t v, double total)
{
	unsigned eighths = hist_length(v, total, HIST_WIDTH * 8);
	unsigned whole = eighths / 8, part = eighths % 8;

	str_addc(to, '|');
	for (unsigned i = 0; i < whole; i++)
		text_add_utf8(to, 0x2588);
	if (part != 0)
		text_add_utf8(to, 0x2590 - part);
	hist_repeat(to, ' ', HIST_WIDTH - whole - (part != 0));
}

void
hist_bar(struct str *to, int64_t v, double total, bool neg, bool pos,
    const struct hist_style *style)
{
	unsigned left = !neg ? 0 : pos ? HIST_WIDTH / 2 : HIST_WIDTH;
	unsigned right = HIST_WIDTH - left;

	if (!neg && style->utf8) {
		hist_bar_utf8(to, v, total);
		return;
	}
	unsigned len = hist_length(v, total, v < 0 ? left : right);
	hist_repeat(to, ' ', v < 0 ? left - len : left);
	hist_repeat(to, '@', v < 0 ? len : 0);
	str_addc(to, '|');
	hist_repeat(to, '@', v < 0 ? 0 : len);
	hist_repeat(to, ' ', v < 0 ? right : right - len);
}

void
hist_header(struct str *to, int width, const char *what)
{
	str_printf(to, "\n%*s %41s %-9s\n", width, own(what),
	    "------------- Distribution -------------", "count");
}

/* ---- buckets ---- */

struct hist {
	const struct prog_agg *def;
	const int64_t *buckets;
	uint32_t n;     /* buckets */
	uint32_t empty; /* the first of three buckets that an empty histogram
			 * shows */
	bool has_neg;   /* llquantize: there are rows below 0 */
};

/* llquantize: the number of bins on one side of 0 (dlang/vm/agg.c draws their
 * order). */
static uint32_t
hist_ll_side(const struct prog_agg *def)
{
	return def->words < 4 ? 0 : (def->words - 4) / 2;
}

static int64_t
hist_power(uint32_t factor, uint32_t n)
{
	int64_t v = 1;

	while (n-- > 0)
		if (__builtin_mul_overflow(v, (int64_t)factor, &v))
			return INT64_MAX;
	return v;
}

/* The lowest value of the bin that is `place' steps away from the middle, and
 * whether there is an integer in it. */
static int64_t
hist_ll_bound(uint64_t param, uint32_t place, bool *holds)
{
	uint32_t factor = LLQUANTIZE_FACTOR(param);
	uint32_t steps = LLQUANTIZE_NSTEPS(param);
	uint32_t bins = llquantize_bins(param);

	*holds = true;
	if (bins == 0 || steps == 0)
		return 0;
	uint32_t order = LLQUANTIZE_LOW(param) + place / bins;
	unsigned __int128 next =
	    (unsigned __int128)hist_power(factor, order + 1);
	unsigned __int128 step = place % bins + steps / factor;
	unsigned __int128 at = (step * next + steps - 1) / steps;
	*holds = at * steps / next == step;
	return (int64_t)MAX(at, (unsigned __int128)hist_power(factor, order));
}

long double
hist_ll_weight(const struct prog_agg *def, const uint64_t *value)
{
	uint32_t side = hist_ll_side(def);
	long double sum = 0;
	bool holds;

	for (uint32_t i = 0; i <= side; i++) {
		long double at = i < side ?
		    hist_ll_bound(def->param, i, &holds) :
		    hist_power(LLQUANTIZE_FACTOR(def->param),
			LLQUANTIZE_HIGH(def->param) + 1);
		sum += at * (long double)(int64_t)value[1 + side + 2 + i];
		sum -= at * (long double)(int64_t)value[1 + side - i];
	}
	return sum;
}

static struct hist
hist_open(const struct prog_agg *def, const uint64_t *value)
{
	struct hist h = { .def = def };

	if (def->func == AGG_QUANTIZE) {
		h.buckets = (const int64_t *)value;
		h.n = MIN(def->words, QUANTIZE_BUCKETS);
		h.empty = QUANTIZE_ZERO - 1;
		return h;
	}
	h.buckets = (const int64_t *)value + 1;
	h.n = def->words - 1;
	if (def->func == AGG_LLQUANTIZE)
		h.empty = hist_ll_side(def) + 1; /* the middle */
	return h;
}

/* The first and the last bucket that are not zero; false if all are. */
static bool
hist_span(const struct hist *h, uint32_t *first, uint32_t *last)
{
	bool any = false;

	for (uint32_t i = 0; i < h->n; i++) {
		if (h->buckets[i] == 0)
			continue;
		if (!any)
			*first = i;
		*last = i;
		any = true;
	}
	return any;
}

static int64_t
hist_quantize_label(uint32_t i)
{
	if (i == QUANTIZE_ZERO)
		return 0;
	if (i > QUANTIZE_ZERO)
		return (int64_t)(1ULL << (i - QUANTIZE_ZERO - 1));
	return -(int64_t)(1ULL << (QUANTIZE_ZERO - 1 - i));
}

static int64_t
hist_lquantize_label(uint64_t param, uint32_t i)
{
	return LQUANTIZE_BASE(param) +
	    ((int64_t)i - 1) * (int64_t)LQUANTIZE_STEP(param);
}

static void
hist_label_lquantize(const struct hist *h, uint32_t i, char *buf, size_t size)
{
	long long at = hist_lquantize_label(h->def->param, i);

	if (i == 0)
		snprintf(
		    buf, size, "< %lld", at + LQUANTIZE_STEP(h->def->param));
	else
		snprintf(buf, size, "%s%lld", i + 1 == h->n ? ">= " : "", at);
}

/* False: there is no integer in this bin, so it is omitted. */
static bool
hist_label_llquantize(const struct hist *h, uint32_t i, char *buf, size_t size)
{
	uint64_t param = h->def->param;
	uint32_t side = hist_ll_side(h->def), middle = side + 1;
	long long low =
	    hist_power(LLQUANTIZE_FACTOR(param), LLQUANTIZE_LOW(param));
	long long end =
	    hist_power(LLQUANTIZE_FACTOR(param), LLQUANTIZE_HIGH(param) + 1);
	bool holds = true;

	if (i == 0)
		snprintf(buf, size, "<= -%lld", end);
	else if (i + 1 == h->n)
		snprintf(buf, size, ">= %lld", end);
	else if (i == middle && low == 1)
		snprintf(buf, size, "0");
	else if (i == middle)
		snprintf(
		    buf, size, "%s< %lld", h->has_neg ? "abs() " : "", low);
	else if (i < middle)
		snprintf(buf, size, "-%lld",
		    (long long)hist_ll_bound(param, side - i, &holds));
	else
		snprintf(buf, size, "%lld",
		    (long long)hist_ll_bound(param, i - middle - 1, &holds));
	return holds;
}

static bool
hist_label(const struct hist *h, uint32_t i, char *buf, size_t size)
{
	if (h->def->func == AGG_LLQUANTIZE)
		return hist_label_llquantize(h, i, buf, size);
	if (h->def->func == AGG_LQUANTIZE)
		hist_label_lquantize(h, i, buf, size);
	else
		snprintf(buf, size, "%lld", (long long)hist_quantize_label(i));
	return true;
}

/* ---- bounds: the least and the greatest value of a bucket ---- */

static void
hist_bounds_quantize(uint32_t i, struct hist_bucket *b)
{
	/* Of a positive value: from 2^k to 2^(k+1) - 1. */
	uint32_t k = i > QUANTIZE_ZERO ? i - QUANTIZE_ZERO : QUANTIZE_ZERO - i;
	int64_t least = k == 0 ? 0 : (int64_t)(1ULL << (k - 1));
	int64_t most = k == 0 ? 0 : (int64_t)((1ULL << k) - 1);

	b->low = i < QUANTIZE_ZERO ? -most : least;
	b->high = i < QUANTIZE_ZERO ? -least : most;
	if (i == 0)
		b->low = INT64_MIN;
	b->value = hist_quantize_label(i);
}

static void
hist_bounds_lquantize(const struct hist *h, uint32_t i, struct hist_bucket *b)
{
	int64_t step = LQUANTIZE_STEP(h->def->param);

	b->low = hist_lquantize_label(h->def->param, i);
	b->high = b->low + step - 1;
	b->value = i == 0 ? b->high + 1 : b->low;
	b->open_below = i == 0;
	b->open_above = i + 1 == h->n;
}

/* The values of the bin that is `place' steps away from the middle. */
static void
hist_bounds_ll_place(
    const struct hist *h, uint32_t place, int64_t *low, int64_t *high)
{
	uint32_t side = hist_ll_side(h->def);
	int64_t next = 0;
	bool holds;

	*low = hist_ll_bound(h->def->param, place, &holds);
	for (holds = false; !holds && ++place < side;)
		next = hist_ll_bound(h->def->param, place, &holds);
	if (!holds)
		next = hist_power(LLQUANTIZE_FACTOR(h->def->param),
		    LLQUANTIZE_HIGH(h->def->param) + 1);
	*high = next - 1;
}

static void
hist_bounds_llquantize(const struct hist *h, uint32_t i, struct hist_bucket *b)
{
	uint64_t param = h->def->param;
	uint32_t side = hist_ll_side(h->def), middle = side + 1;
	int64_t end =
	    hist_power(LLQUANTIZE_FACTOR(param), LLQUANTIZE_HIGH(param) + 1);
	int64_t low = 0, high = 0;

	b->open_below = i == 0;
	b->open_above = i + 1 == h->n;
	if (b->open_below || b->open_above) {
		b->low = b->high = b->value = i == 0 ? -end : end;
		return;
	}
	if (i == middle) {
		b->value =
		    hist_power(LLQUANTIZE_FACTOR(param), LLQUANTIZE_LOW(param));
		b->high = b->value - 1;
		b->low = -b->high;
		b->value = b->value == 1 ? 0 : b->value;
		return;
	}
	hist_bounds_ll_place(
	    h, i < middle ? side - i : i - middle - 1, &low, &high);
	b->low = i < middle ? -high : low;
	b->high = i < middle ? -low : high;
	b->value = i < middle ? -low : low;
}

static void
hist_bounds(const struct hist *h, uint32_t i, struct hist_bucket *b)
{
	if (h->def->func == AGG_LLQUANTIZE)
		hist_bounds_llquantize(h, i, b);
	else if (h->def->func == AGG_LQUANTIZE)
		hist_bounds_lquantize(h, i, b);
	else
		hist_bounds_quantize(i, b);
}

/* The next bucket after i towards 0 (step -1) or towards the end (1) that has a
 * row; i itself if there is none. */
static uint32_t
hist_neighbour(const struct hist *h, uint32_t i, int step)
{
	char label[HIST_LABEL];

	for (uint32_t at = i; step < 0 ? at > 0 : at + 1 < h->n;) {
		at += (uint32_t)step;
		if (hist_label(h, at, label, sizeof(label)))
			return at;
	}
	return i;
}

/* What bars are measured against. */
static double
hist_total(const int64_t *v, uint32_t n, bool zoom, bool *neg, bool *pos)
{
	double total = 0, max = 0;

	*neg = *pos = false;
	for (uint32_t i = 0; i < n; i++) {
		double a = (double)hist_abs(v[i]);
		total += a;
		max = MAX(max, a);
		*neg |= v[i] < 0;
		*pos |= v[i] > 0;
	}
	return zoom ? max / 0.95 : total;
}

/* Find the rows to show: those that are not empty and one on either side of
 * them, or three. False: there is nothing to show. */
static bool
hist_rows(struct hist *h, uint32_t *first, uint32_t *last)
{
	if (h->n < 3)
		return false;
	if (hist_span(h, first, last)) {
		*first = hist_neighbour(h, *first, -1);
		*last = hist_neighbour(h, *last, 1);
	} else {
		*first = MIN(h->empty, h->n - 3);
		*last = hist_neighbour(h, hist_neighbour(h, *first, 1), 1);
	}
	h->has_neg = *first < h->empty;
	return true;
}

void
hist_each(const struct prog_agg *def, const uint64_t *value, uint64_t normal,
    hist_row_fn row, void *ctx)
{
	struct hist h = hist_open(def, value);
	int64_t by = (int64_t)MIN(MAX(normal, 1), INT64_MAX);
	uint32_t first = 0, last = 0;
	char label[HIST_LABEL];

	if (!hist_rows(&h, &first, &last))
		return;
	for (uint32_t i = first; i <= last; i++) {
		struct hist_bucket b = { .label = label,
			.count = h.buckets[i],
			.shown = h.buckets[i] / by };
		if (!hist_label(&h, i, label, sizeof(label)))
			continue;
		hist_bounds(&h, i, &b);
		row(ctx, &b);
	}
}

/* What is needed to draw the rows of a histogram. */
struct hist_text {
	struct str *to;
	const struct hist_style *style;
	double total;
	bool neg, pos;
};

static void
hist_row(void *ctx, const struct hist_bucket *b)
{
	const struct hist_text *t = ctx;

	str_printf(t->to, "%16s ", own(b->label));
	hist_bar(t->to, b->count, t->total, t->neg, t->pos, t->style);
	str_printf(t->to, " %-9lld\n", (long long)b->shown);
}

void
hist_print(struct str *to, const struct prog_agg *def, const uint64_t *value,
    uint64_t normal, const struct hist_style *style)
{
	struct hist h = hist_open(def, value);
	struct hist_text t = { .to = to, .style = style };
	uint32_t first = 0, last = 0;

	hist_header(to, 16, "value");
	if (!hist_rows(&h, &first, &last))
		return;
	t.total = hist_total(
	    h.buckets + first, last - first + 1, style->zoom, &t.neg, &t.pos);
	hist_each(def, value, normal, hist_row, &t);
}

/* ---- packed: one character a bucket ---- */

static int64_t
hist_pack_bound(const struct prog_agg *def, uint32_t i)
{
	if (def->func == AGG_QUANTIZE)
		return hist_quantize_label(i);
	return hist_lquantize_label(def->param, i);
}

void
hist_range_add(
    struct hist_range *r, const struct prog_agg *def, const uint64_t *value)
{
	struct hist h = hist_open(def, value);
	uint32_t first = h.empty, last = h.empty + 2;

	hist_span(&h, &first, &last);
	r->first = r->any ? MIN(r->first, first) : first;
	r->last = r->any ? MAX(r->last, last) : last;
	r->any = true;
	r->min_width = snprintf(
	    NULL, 0, "%lld", (long long)hist_pack_bound(def, r->first));
	r->min_width = MAX(r->min_width, 3);
	r->max_width =
	    snprintf(NULL, 0, "%lld", (long long)hist_pack_bound(def, r->last));
	r->max_width = MAX(r->max_width, 3);
}

static void
hist_pack_cell(
    struct str *to, int64_t v, double total, const struct hist_style *style)
{
	static const char up[] = "__xxxxXX", down[] = "vvvvVV";
	double share = total > 0 ? (double)hist_abs(v) / total : 0;

	if (v == 0)
		str_addc(to, ' ');
	else if (v < 0)
		str_addc(to, down[(unsigned)MIN(share * 6, 5)]);
	else if (style->pack_utf8)
		text_add_utf8(to, 0x2581 + (uint32_t)MIN(share * 8, 7));
	else
		str_addc(to, up[(unsigned)MIN(share * 8, 7)]);
}

void
hist_pack(struct str *to, const struct prog_agg *def, const uint64_t *value,
    uint64_t normal, const struct hist_range *r, const struct hist_style *style)
{
	struct hist h = hist_open(def, value);
	int64_t sum = 0;
	bool neg, pos;

	double total = hist_total(h.buckets, h.n, style->zoom, &neg, &pos);
	str_printf(to, " %*lld :", r->min_width,
	    (long long)hist_pack_bound(def, r->first));
	for (uint32_t i = r->first; i <= r->last && i < h.n; i++) {
		hist_pack_cell(to, h.buckets[i], total, style);
		__builtin_add_overflow(sum, h.buckets[i], &sum);
	}
	str_printf(to, ": %-*lld | %lld", r->max_width,
	    (long long)hist_pack_bound(def, r->last),
	    (long long)(sum / (int64_t)MIN(MAX(normal, 1), INT64_MAX)));
}

void
hist_pack_header(
    struct str *to, const struct prog_agg *def, const struct hist_range *r)
{
	str_printf(to, " %*s .", r->min_width, "min");
	hist_repeat(to, '-', r->last - r->first + 1);
	str_printf(to, ". %-*s | count", r->max_width, "max");
}
