/*
 * Histograms as bars: one below the other for each key of an aggregation, in
 * the order and with the rows of printa().
 */

#include "tracer/consume/picture.h"

#define LABEL 150 /* pixels for the labels, to the left of the bars */
#define BAR   800 /* of the longest */

/* The most histograms that are drawn for one aggregation. */
#define HISTS_MOST 200

struct bars {
	struct picture *pic;
	uint64_t longest;
};

static uint64_t
bar_size(int64_t v)
{
	return v < 0 ? -(uint64_t)v : (uint64_t)v;
}

static void
bar_measure(void *ctx, const struct hist_bucket *row)
{
	struct bars *b = ctx;

	b->longest = MAX(b->longest, bar_size(row->count));
}

static void
bar_draw(void *ctx, const struct hist_bucket *row)
{
	struct bars *b = ctx;
	int64_t v = row->count;
	struct str *to = &b->pic->body;
	unsigned y = b->pic->y;
	double width = b->longest == 0 ?
	    0 :
	    (double)bar_size(v) / (double)b->longest * BAR;

	str_printf(
	    to, "<g class=\"bar\" data-count=\"%lld\"><title>", (long long)v);
	text_add_xml(to, row->label);
	str_printf(to,
	    "\n%lld</title><text x=\"%d\" y=\"%u\" "
	    "text-anchor=\"end\">",
	    (long long)row->shown, PICTURE_MARGIN + LABEL, y + PICTURE_ROW - 5);
	text_add_xml(to, row->label);
	str_printf(to,
	    "</text><rect x=\"%d\" y=\"%u\" width=\"%.2f\" height=\"%d\" "
	    "fill=\"%s\"/><text x=\"%.2f\" y=\"%u\">%lld</text></g>\n",
	    PICTURE_MARGIN + LABEL + 8, y, width, PICTURE_ROW - 3,
	    v < 0 ? "#b55" : "#58a", PICTURE_MARGIN + LABEL + 14 + width,
	    y + PICTURE_ROW - 5, (long long)row->shown);
	b->pic->y += PICTURE_ROW;
}

/* The key in one line. */
static void
hist_key(struct picture *pic, const struct agg_line *l, struct str *to)
{
	struct printer p = record_printer(pic->c, to);

	p.escape = false;
	for (size_t i = 0; i < l->keydef->nkeys; i++) {
		const struct prog_rec *rec = &l->keydef->keys[i];
		str_add(to, i != 0 ? " " : "");
		if (rec->kind == REC_STACK)
			stack_fold(&p, l->key + rec->off, rec->size);
		else
			print_key_short(&p, rec, l->key + rec->off);
	}
}

static void
hist_draw(struct picture *pic, const struct agg_line *l, uint64_t normal)
{
	const struct agg_row *row = l->rows[0];
	struct bars b = { .pic = pic };
	struct str text = { 0 };

	str_printf(&text, "@%s%s", own(picture_name(row->def)),
	    l->keydef->nkeys != 0 ? ": " : "");
	hist_key(pic, l, &text);
	picture_head(pic, str_c(&text));
	str_fini(&text);
	str_add(&pic->body, "<g class=\"hist\">\n");
	hist_each(row->def, row->value, normal, bar_measure, &b);
	hist_each(row->def, row->value, normal, bar_draw, &b);
	str_add(&pic->body, "</g>\n");
	pic->y += PICTURE_ROW / 2;
	pic->n++;
}

void
picture_hists(struct picture *pic, const struct prog_agg *def)
{
	struct aggs *a = &pic->c->aggs;
	struct agg_lines lines;

	if (!agg_is_hist(def))
		return;
	aggs_lines(a, &def->id, 1, pic->c->env.opts, &lines);
	/* The largest ones are last, unless the options request them first. */
	size_t n = MIN(lines.len, HISTS_MOST);
	bool reverse = option_get(pic->c->env.opts, OPT_AGGSORTREV);
	size_t from = reverse ? 0 : lines.len - n;
	for (size_t i = 0; i < n; i++)
		hist_draw(
		    pic, &lines.at[from + i], aggs_table(a, def->id)->normal);
	if (n < lines.len) {
		struct str text = { 0 };
		str_printf(&text, "@%s: %zu more are not shown",
		    own(picture_name(def)), lines.len - n);
		picture_head(pic, str_c(&text));
		str_fini(&text);
	}
	agg_lines_fini(&lines);
}
