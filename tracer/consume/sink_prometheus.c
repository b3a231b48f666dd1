/*
 * The format prometheus: the aggregations as metrics, in the text format that
 * Prometheus scrapes and its node exporter's textfile collector reads.
 *
 * The file of -o is written as a whole at each printa() and at the end, and
 * replaces the old one when it is complete: a collector never sees half of it.
 * What cannot be replaced, as a pipe, is written once, at the end.  An
 * aggregation that was printed has the values of its last printa(), as in text;
 * a clear() behind it does not change them.
 *
 *	count()			counter	   dtrap_NAME_total{key0="...",...}
 *	sum() min() max() ...	gauge	   dtrap_NAME{...}
 *	quantize() ...		histogram  dtrap_NAME_bucket{...,le="7"}
 *
 * A histogram has no sum: the values were not kept.
 */
#include <string.h>

#include "tracer/consume/file.h"

struct metrics {
	VEC(struct str) printed; /* by id - 1: the last printa(); "": none */
	bool due;                /* a printa() was in the record */
	bool failed;
	uint64_t nerrors, ndrops;
};

/* What is being written. */
struct exposition {
	struct consume *c;
	struct str *to;
	const struct prog_agg *def;
	struct str name;   /* of the metric */
	struct str labels; /* of the key, with a comma behind each */
	int64_t sum;       /* of the buckets so far */
	bool whole;        /* the last bucket has no bound */
};

/* ---- names ---- */

static const char *
suffix(const struct prog_agg *def)
{
	return def->func == AGG_COUNT ? "_total" : "";
}

static void
add_name(struct str *to, const struct prog_agg *def)
{
	str_add(to, "dtrap");
	if (strcmp(def->name, "_") != 0)
		str_printf(to, "_%s", own(def->name));
	str_add(to, own(suffix(def)));
}

/* @a_total and @a may have one name: then the later one has its number. */
static void
name_metric(struct exposition *e)
{
	struct str other = { 0 };

	str_clear(&e->name);
	add_name(&e->name, e->def);
	vec_foreach(def, &e->c->env.globals->aggs) {
		if (*def == e->def)
			break;
		str_clear(&other);
		add_name(&other, *def);
		if (strcmp(str_c(&other), str_c(&e->name)) == 0) {
			str_printf(&e->name, "_%u", e->def->id);
			break;
		}
	}
	str_fini(&other);
}

static void
add_head(struct exposition *e)
{
	const char *type = agg_is_hist(e->def) ? "histogram" :
	    e->def->func == AGG_COUNT          ? "counter" :
						 "gauge";
	const char *name = str_c(&e->name);

	str_printf(e->to, "# HELP %s Aggregation @%s of a D program.\n",
	    own(name), own(e->def->name));
	str_printf(e->to, "# TYPE %s %s\n", own(name), own(type));
}

/* ---- labels ---- */

static void
add_label(struct exposition *e, size_t i, const struct agg_row *row)
{
	const struct prog_rec *rec = &row->def->keys[i];
	struct str text = { 0 };
	struct printer p = record_printer(e->c, &text);

	p.escape = false;
	if (rec->kind == REC_STACK)
		stack_fold(&p, row->key + rec->off, rec->size);
	else
		print_key_short(&p, rec, row->key + rec->off);
	str_printf(&e->labels, "key%zu=\"", i);
	text_add_label(&e->labels, str_c(&text), text.len);
	str_add(&e->labels, "\",");
	str_fini(&text);
}

/* Different keys may look alike, but a sample must not come twice. */
static void
label_row(struct exposition *e, struct hash *seen, const struct agg_row *row)
{
	str_clear(&e->labels);
	for (size_t i = 0; i < row->def->nkeys; i++)
		add_label(e, i, row);
	uint64_t h = hash_bytes(str_c(&e->labels), e->labels.len);
	uintptr_t n = (uintptr_t)hash_get(seen, h) + 1;
	hash_set(seen, h, (void *)n);
	if (n > 1)
		str_printf(&e->labels, "like=\"%lu\",", (unsigned long)n);
}

/* The labels in braces, with one more (le), or none. */
static void
add_labels(struct exposition *e, const char *le)
{
	size_t len = e->labels.len;

	if (len == 0 && le == NULL)
		return;
	str_addc(e->to, '{');
	str_addn(e->to, own(str_c(&e->labels)),
	    le == NULL ? len - 1 : len); /* escaped above */
	if (le != NULL)
		str_printf(e->to, "le=\"%s\"", own(le));
	str_addc(e->to, '}');
}

/* ---- values ---- */

static void
add_bucket(void *ctx, const struct hist_bucket *b)
{
	struct exposition *e = ctx;
	char le[32] = "+Inf";

	e->whole = b->open_above;
	if (!b->open_above)
		snprintf(le, sizeof(le), "%lld", (long long)b->high);
	__builtin_add_overflow(e->sum, b->shown, &e->sum);
	str_printf(e->to, "%s_bucket", own(str_c(&e->name)));
	add_labels(e, le);
	str_printf(e->to, " %lld\n", (long long)e->sum);
}

static void
add_histogram(struct exposition *e, const struct agg_row *row, uint64_t normal)
{
	e->sum = 0;
	e->whole = false;
	hist_each(row->def, row->value, normal, add_bucket, e);
	if (!e->whole) {
		str_printf(e->to, "%s_bucket", own(str_c(&e->name)));
		add_labels(e, "+Inf");
		str_printf(e->to, " %lld\n", (long long)e->sum);
	}
	str_printf(e->to, "%s_count", own(str_c(&e->name)));
	add_labels(e, NULL);
	str_printf(e->to, " %lld\n", (long long)e->sum);
}

static void
add_row(struct exposition *e, const struct agg_row *row, uint64_t normal)
{
	int64_t v = row->empty ? 0 : agg_scalar(row->def, row->value, normal);

	if (agg_is_hist(row->def)) {
		add_histogram(e, row, normal);
		return;
	}
	str_add(e->to, own(str_c(&e->name)));
	add_labels(e, NULL);
	if (row->def->func == AGG_COUNT)
		str_printf(e->to, " %llu\n", (unsigned long long)v);
	else
		str_printf(e->to, " %lld\n", (long long)v);
}

static void
add_metric(struct exposition *e)
{
	struct agg_table *t = aggs_table(&e->c->aggs, e->def->id);
	struct hash seen = { 0 };
	struct agg_lines lines;

	if (t->rows.len == 0)
		return;
	name_metric(e);
	add_head(e);
	aggs_lines(&e->c->aggs, &e->def->id, 1, e->c->env.opts, &lines);
	for (size_t i = 0; i < lines.len; i++) {
		label_row(e, &seen, lines.at[i].rows[0]);
		add_row(e, lines.at[i].rows[0], t->normal);
	}
	agg_lines_fini(&lines);
	hash_fini(&seen);
}

/* What went wrong with the trace itself. */
static void
add_self(struct consume *c, struct str *to)
{
	const struct metrics *m = c->format;

	str_printf(to,
	    "# HELP dtrap_self_errors_total Errors of clauses.\n"
	    "# TYPE dtrap_self_errors_total counter\n"
	    "dtrap_self_errors_total %llu\n"
	    "# HELP dtrap_self_drops_total Drops of all kinds.\n"
	    "# TYPE dtrap_self_drops_total counter\n"
	    "dtrap_self_drops_total %llu\n",
	    (unsigned long long)m->nerrors, (unsigned long long)m->ndrops);
}

static void
add_one(struct consume *c, struct str *to, uint32_t id)
{
	struct exposition e = {
		.c = c,
		.to = to,
		.def = c->env.globals->aggs.at[id - 1],
	};

	add_metric(&e);
	str_fini(&e.name);
	str_fini(&e.labels);
}

static void
keep_printed(struct consume *c, uint32_t id)
{
	struct metrics *m = c->format;

	if (aggs_table(&c->aggs, id) == NULL)
		return;
	while (m->printed.len < id)
		*vec_push(&m->printed) = (struct str){ 0 };
	str_clear(&m->printed.at[id - 1]);
	add_one(c, &m->printed.at[id - 1], id);
}

static void
add_all(struct consume *c, struct str *to)
{
	const struct metrics *m = c->format;

	for (uint32_t id = 1; id <= c->env.globals->aggs.len; id++) {
		const struct str *kept =
		    id <= m->printed.len ? &m->printed.at[id - 1] : NULL;
		if (kept != NULL && kept->len != 0)
			str_addn(to, own(str_c(kept)), kept->len);
		else
			add_one(c, to, id);
	}
	add_self(c, to);
}

/* ---- the file ---- */

/* False: it can be written only once. */
static bool
write_file(struct consume *c)
{
	struct metrics *m = c->format;
	struct str text = { 0 };

	if (c->env.path == NULL || !file_is_regular(c->env.path))
		return false;
	add_all(c, &text);
	int r = file_renew(&c->env, c->env.path, &text);
	if (r != 0 && !m->failed)
		consume_message(
		    c, "failed to write '%s': %s", c->env.path, strerror(-r));
	m->failed = r != 0;
	str_fini(&text);
	return true;
}

static void
prometheus_stmt(struct consume *c, const struct prog_stmt *st)
{
	struct metrics *m = c->format;

	if (st->kind != ACT_PRINTA) {
		c->unprinted++;
		return;
	}
	m->due = true;
	for (size_t i = 0; i < st->naggs; i++)
		keep_printed(c, st->aggs[i]);
}

/* Also before a command of system() runs: it may read the file. */
static void
prometheus_cut(struct consume *c)
{
	struct metrics *m = c->format;

	if (m->due)
		write_file(c);
	m->due = false;
}

static void
prometheus_error(struct consume *c, const struct sink_error *e)
{
	struct metrics *m = c->format;

	m->nerrors += e->probe != NULL;
}

static void
prometheus_drop(struct consume *c, const struct sink_drop *d)
{
	struct metrics *m = c->format;

	m->ndrops += d->n;
}

static void
prometheus_create(struct consume *c)
{
	c->format = mem_zalloc(sizeof(struct metrics));
}

static void
prometheus_destroy(struct consume *c)
{
	struct metrics *m = c->format;

	vec_foreach(text, &m->printed)
		str_fini(text);
	vec_fini(&m->printed);
	mem_free(m);
}

static void
prometheus_end(struct consume *c, int status)
{
	if (!write_file(c)) {
		add_all(c, &c->line);
		out_write(&c->out, &c->line);
	}
	if (c->unprinted != 0)
		consume_message(c,
		    "the output of %llu statement%s is left out: the format "
		    "prometheus has only aggregations",
		    (unsigned long long)c->unprinted,
		    c->unprinted == 1 ? "" : "s");
}

const struct sink sink_prometheus = {
	.name = "prometheus",
	.create = prometheus_create,
	.destroy = prometheus_destroy,
	.stmt = prometheus_stmt,
	.cut = prometheus_cut,
	.close = prometheus_cut,
	.error = prometheus_error,
	.drop = prometheus_drop,
	.end = prometheus_end,
};
