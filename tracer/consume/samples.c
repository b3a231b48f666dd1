/*
 * Aggregations as samples of stacks; see samples.h.
 */
#include "tracer/consume/samples.h"

bool
agg_has_stack(const struct prog_agg *def)
{
	for (size_t i = 0; i < def->nkeys; i++)
		if (def->keys[i].kind == REC_STACK)
			return true;
	return false;
}

static bool
is_sampled(const struct prog_agg *def)
{
	return agg_has_stack(def) &&
	    (def->func == AGG_COUNT || def->func == AGG_SUM);
}

size_t
samples_aggs(struct consume *c, const struct prog_agg ***defs)
{
	size_t n = 0;

	*defs = mem_zalloc((c->env.globals->aggs.len + 1) * sizeof(**defs));
	vec_foreach(def, &c->env.globals->aggs)
		if (is_sampled(*def))
			(*defs)[n++] = *def;
	return n;
}

/* The value that text prints; 0 if there is none. */
static int64_t
row_value(const struct agg_row *row, uint64_t normal)
{
	return row->empty ? 0 : agg_scalar(row->def, row->value, normal);
}

void
samples_each(struct consume *c, sample_fn each, void *ctx)
{
	struct agg_lines lines;

	vec_foreach(def, &c->env.globals->aggs) {
		if (!is_sampled(*def))
			continue;
		uint64_t normal = aggs_table(&c->aggs, (*def)->id)->normal;
		aggs_lines(&c->aggs, &(*def)->id, 1, c->env.opts, &lines);
		for (size_t i = 0; i < lines.len; i++) {
			int64_t v = row_value(lines.at[i].rows[0], normal);
			if (v > 0)
				each(ctx,
				    &(struct sample){
					*def, lines.at[i].key, v });
		}
		agg_lines_fini(&lines);
	}
}

void
sample_label(struct consume *c, const struct prog_rec *rec, const uint8_t *key,
    struct str *to)
{
	struct printer p = record_printer(c, to);

	p.escape = false;
	print_key_short(&p, rec, key);
}

void
samples_stmt(struct consume *c, const struct prog_stmt *st)
{
	if (st->kind != ACT_PRINTA)
		c->unprinted++;
}

/* Values below 0 cannot be a width. */
static uint64_t
negatives(struct consume *c, const struct prog_agg *def)
{
	const struct agg_table *t = aggs_table(&c->aggs, def->id);
	uint64_t n = 0;

	vec_foreach(row, &t->rows)
		n += row_value(*row, t->normal) < 0;
	return n;
}

void
samples_tell(struct consume *c)
{
	const char *format = c->sink->name;

	vec_foreach(def, &c->env.globals->aggs) {
		uint64_t n = is_sampled(*def) ? negatives(c, *def) : 0;
		if (!is_sampled(*def))
			consume_message(c,
			    "@%s is left out: the format %s has only count() "
			    "and sum() with a stack in the key",
			    (*def)->name, format);
		else if (n != 0)
			consume_message(c,
			    "%llu value%s of @%s below 0 left out",
			    (unsigned long long)n, n == 1 ? "" : "s",
			    (*def)->name);
	}
	if (c->unprinted != 0)
		consume_message(c,
		    "the output of %llu statement%s is left out: the format "
		    "%s has only aggregations",
		    (unsigned long long)c->unprinted,
		    c->unprinted == 1 ? "" : "s", format);
}
