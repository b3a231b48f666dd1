/*
 * printa() and the report at the end: aggregations, joined by key, in order.
 */

#include "tracer/consume/consume_impl.h"

struct report {
	struct printer *p;
	size_t n; /* aggregations */
	const struct prog_agg **defs;
	uint64_t *normals;
	struct agg_lines lines;
	struct hist_style style;
	bool hist, pack;   /* agghist, aggpack */
	printa_row_fn row; /* NULL: nobody wants single lines */
	void *row_ctx;
	/* Of a table with one column of keys (agghist, aggpack): */
	bool table;
	int key_width;
	double total; /* agghist */
	bool neg, pos;
	struct hist_range range; /* aggpack */
};

/* The text of a line is complete; NULL: it is a header. */
static void
report_row(struct report *r, const struct agg_line *l)
{
	if (r->row != NULL)
		r->row(r->row_ctx, l);
}

static void
report_keys(struct printer *p, const struct agg_line *l)
{
	for (size_t i = 0; i < l->keydef->nkeys; i++)
		print_key(
		    p, &l->keydef->keys[i], l->key + l->keydef->keys[i].off);
}

/* One value, as wide as its column. A histogram has lines of its own. */
static void
report_words(struct report *r, size_t i, const uint64_t *value, bool empty)
{
	const struct prog_agg *def = r->defs[i];

	if (agg_is_hist(def)) {
		hist_print(r->p->to, def, value, r->normals[i], &r->style);
		return;
	}
	int64_t v = empty ? 0 : agg_scalar(def, value, r->normals[i]);
	if (def->func == AGG_STDDEV)
		str_printf(r->p->to, " %16llu", (unsigned long long)v);
	else
		str_printf(r->p->to, " %16lld", (long long)v);
}

static void
report_value(struct report *r, size_t i, const struct agg_row *row)
{
	uint64_t *zero = NULL;

	if (row == NULL)
		zero = mem_zalloc((size_t)r->defs[i]->words * 8);
	report_words(
	    r, i, row != NULL ? row->value : zero, row == NULL || row->empty);
	mem_free(zero);
}

/* aggpercpu: a line, or a histogram, for each processor. */
static void
report_parts(struct report *r, size_t i, const struct agg_row *row)
{
	if (row == NULL)
		return;
	vec_foreach(part, &row->parts) {
		str_printf(r->p->to, "    [CPU %u]", part->cpu);
		report_words(r, i, part->value, row->empty);
		str_addc(r->p->to, '\n');
	}
}

/* ---- a table: agghist, aggpack ---- */

static void
report_short_member(
    struct report *r, const struct agg_line *l, size_t i, struct str *to)
{
	struct printer p = *r->p;

	p.to = to;
	print_key_short(
	    &p, &l->keydef->keys[i], l->key + l->keydef->keys[i].off);
}

/* The members of the key, with a blank between them. */
static void
report_short_key(struct report *r, const struct agg_line *l, struct str *to)
{
	for (size_t i = 0; i < l->keydef->nkeys; i++) {
		str_add(to, i != 0 ? " " : "");
		report_short_member(r, l, i, to);
	}
}

static void
report_measure(struct report *r)
{
	struct str key = { 0 };

	r->key_width = 16;
	for (size_t i = 0; i < r->lines.len; i++) {
		const struct agg_row *row = r->lines.at[i].rows[0];
		report_short_key(r, &r->lines.at[i], &key);
		r->key_width = MAX(r->key_width, (int)MIN(key.len, 512));
		str_clear(&key);
		if (r->pack) {
			hist_range_add(&r->range, r->defs[0], row->value);
			continue;
		}
		int64_t v = (int64_t)row->value[0];
		double a = v < 0 ? -(double)v : (double)v;
		r->total =
		    r->style.zoom ? MAX(r->total, a / 0.95) : r->total + a;
		r->neg |= v < 0;
		r->pos |= v > 0;
	}
	str_fini(&key);
}

static void
report_table_row(struct report *r, const struct agg_line *l)
{
	const struct agg_row *row = l->rows[0];
	struct str *to = r->p->to;
	struct str key = { 0 };

	report_short_key(r, l, &key);
	text_add_padded(r->p, str_c(&key), key.len, r->key_width);
	str_addc(to, ' ');
	str_fini(&key);
	if (r->pack) {
		hist_pack(to, r->defs[0], row->value, r->normals[0], &r->range,
		    &r->style);
	} else {
		hist_bar(to, (int64_t)row->value[0], r->total, r->neg, r->pos,
		    &r->style);
		str_printf(to, " %-9lld",
		    (long long)agg_scalar(
			r->defs[0], row->value, r->normals[0]));
	}
	str_addc(to, '\n');
}

static void
report_table(struct report *r)
{
	report_measure(r);
	if (r->pack) {
		str_printf(r->p->to, "\n%*s ", r->key_width, "key");
		hist_pack_header(r->p->to, r->defs[0], &r->range);
		str_addc(r->p->to, '\n');
	} else {
		hist_header(r->p->to, r->key_width, "key");
	}
	report_row(r, NULL);
	for (size_t i = 0; i < r->lines.len; i++) {
		report_table_row(r, &r->lines.at[i]);
		report_row(r, &r->lines.at[i]);
	}
}

/* Do the options request a table?  Stacks as keys have lines of their own. */
static bool
report_is_table(const struct report *r)
{
	const struct prog_agg *def = r->defs[0];

	if (r->n != 1 || r->lines.len == 0)
		return false;
	for (size_t i = 0; i < def->nkeys; i++)
		if (def->keys[i].kind == REC_STACK ||
		    def->keys[i].kind == REC_BYTES)
			return false;
	if (r->pack)
		return def->func == AGG_QUANTIZE || def->func == AGG_LQUANTIZE;
	return r->hist && (def->func == AGG_COUNT || def->func == AGG_SUM);
}

/* ---- lines ---- */

static void
report_format(struct report *r, const struct agg_line *l, const struct fmt *fmt)
{
	struct fmt_args args = {
		.recs = l->keydef->keys,
		.nrecs = l->keydef->nkeys,
		.base = l->key,
		.size = l->keydef->key_size,
		.rows = l->rows,
		.defs = r->defs,
		.normals = r->normals,
		.naggs = r->n,
	};
	printf_render(r->p, fmt, &args);
}

static bool
report_is_folded(const struct report *r)
{
	const struct prog_agg *def = r->defs[0];

	for (size_t i = 0; i < def->nkeys; i++)
		if (def->keys[i].kind == REC_STACK)
			return stack_is_folded(r->p->c->env.opts);
	return false;
}

/* The stacks, the other members of the key, the values, with a blank between
 * them. */
static void
report_folded(struct report *r, const struct agg_line *l)
{
	const struct prog_agg *def = l->keydef;
	size_t start = r->p->to->len;

	for (int stacks = 1; stacks >= 0; stacks--)
		for (size_t i = 0; i < def->nkeys; i++) {
			if ((def->keys[i].kind == REC_STACK) != stacks)
				continue;
			if (r->p->to->len != start)
				str_addc(r->p->to, ' ');
			report_short_member(r, l, i, r->p->to);
		}
	for (size_t i = 0; i < r->n; i++) {
		const struct agg_row *row = l->rows[i];
		if (agg_is_hist(r->defs[i]))
			report_value(r, i, row);
		else
			str_printf(r->p->to, " %lld",
			    row == NULL || row->empty ?
				0LL :
				(long long)agg_scalar(
				    r->defs[i], row->value, r->normals[i]));
	}
	str_addc(r->p->to, '\n');
}

static void
report_plain(struct report *r, const struct agg_line *l)
{
	report_keys(r->p, l);
	for (size_t i = 0; i < r->n; i++)
		report_value(r, i, l->rows[i]);
	str_addc(r->p->to, '\n');
	for (size_t i = 0; i < r->n; i++)
		report_parts(r, i, l->rows[i]);
}

static void
report_lines(struct report *r, const struct fmt *fmt)
{
	bool folded = fmt == NULL && report_is_folded(r);

	for (size_t i = 0; i < r->lines.len; i++) {
		const struct agg_line *l = &r->lines.at[i];
		if (fmt != NULL)
			report_format(r, l, fmt);
		else if (folded)
			report_folded(r, l);
		else
			report_plain(r, l);
		report_row(r, l);
	}
}

static bool
report_open(struct report *r, const uint32_t *ids, size_t nids,
    const struct options *opts)
{
	struct aggs *a = &r->p->c->aggs;

	for (size_t i = 0; i < nids; i++)
		if (aggs_table(a, ids[i]) == NULL)
			return false;
	r->n = nids;
	r->style = hist_style(opts);
	r->hist = option_get(opts, OPT_AGGHIST);
	r->pack = option_get(opts, OPT_AGGPACK);
	r->defs = mem_alloc(nids * sizeof(r->defs[0]));
	r->normals = mem_alloc(nids * sizeof(r->normals[0]));
	for (size_t i = 0; i < nids; i++) {
		struct agg_table *t = aggs_table(a, ids[i]);
		r->defs[i] = a->globals->aggs.at[ids[i] - 1];
		r->normals[i] = t->normal;
		t->printed |= t->rows.len != 0;
	}
	aggs_lines(a, ids, nids, opts, &r->lines);
	return true;
}

static void
report_all(struct report *r, const struct fmt *fmt)
{
	if (fmt == NULL && report_is_table(r))
		report_table(r);
	else
		report_lines(r, fmt);
	agg_lines_fini(&r->lines);
	mem_free(r->defs);
	mem_free(r->normals);
}

void
printa(struct printer *p, const uint32_t *ids, size_t nids,
    const struct fmt *fmt, bool lead)
{
	struct report r = { .p = p };

	if (nids == 0 || !report_open(&r, ids, nids, p->c->env.opts))
		return;
	if (fmt == NULL && lead)
		str_addc(p->to, '\n');
	report_all(&r, fmt);
}

void
printa_rows(struct printer *p, const struct prog_stmt *st, size_t most,
    const struct options *opts, printa_row_fn row, void *ctx)
{
	struct report r = { .p = p, .row = row, .row_ctx = ctx };

	if (st->naggs == 0 || !report_open(&r, st->aggs, st->naggs, opts))
		return;
	r.lines.len = MIN(r.lines.len, most);
	report_all(&r, st->fmt);
}
