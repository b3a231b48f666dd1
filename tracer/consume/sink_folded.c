/*
 * The format folded: at the end a line for each stack, as flamegraph.pl and
 * its like read it:
 *
 *	main;left;leaf 30
 *
 * The members of the key stack up in their order, as in the pictures of option
 * report.  If several aggregations are printed, the first frame tells which.
 */
#include "tracer/consume/samples.h"

struct folded {
	struct consume *c;
	bool several;
	bool any; /* a frame of the line is there */
};

static void
folded_frame(void *ctx, const char *name)
{
	struct folded *f = ctx;

	if (f->any)
		str_addc(&f->c->line, ';');
	f->any = true;
	text_add_word(&f->c->line, name);
}

static void
folded_line(void *ctx, const struct sample *s)
{
	struct folded *f = ctx;
	struct str *line = &f->c->line;
	struct printer p = record_printer(f->c, line);
	struct str text = { 0 };

	f->any = false;
	if (f->several) {
		str_addc(&text, '@');
		str_add(&text, own(s->def->name));
		folded_frame(f, str_c(&text));
		str_clear(&text);
	}
	for (size_t i = 0; i < s->def->nkeys; i++) {
		const struct prog_rec *rec = &s->def->keys[i];
		if (rec->kind == REC_STACK) {
			stack_functions(
			    &p, s->key + rec->off, rec->size, folded_frame, f);
			continue;
		}
		sample_label(f->c, rec, s->key + rec->off, &text);
		folded_frame(f, str_c(&text));
		str_clear(&text);
	}
	if (!f->any)
		folded_frame(f, "-");
	str_printf(line, " %lld\n", (long long)s->value);
	out_write(&f->c->out, line);
	str_fini(&text);
}

static void
folded_report(struct consume *c)
{
	const struct prog_agg **defs;
	struct folded f = { .c = c, .several = samples_aggs(c, &defs) > 1 };

	mem_free(defs);
	samples_each(c, folded_line, &f);
	samples_tell(c);
}

const struct sink sink_folded = {
	.name = "folded",
	.document = true,
	.stmt = samples_stmt,
	.report = folded_report,
};
