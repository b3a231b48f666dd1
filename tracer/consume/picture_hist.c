/*
 * Histograms as bars: one below the other for each key of an aggregation, in
 * the order and with the rows of printa().
 */

#include "tracer/consume/picture.h"

#define LABEL 150 /* pixels for the labels, to the left of the bars */
#define BAR   800 /* of the longest */

static uint64_t
bar_size(int64_t v)
{
	return v < 0 ? -(uint64_t)v : (uint64_t)v;
}

static void
bar_draw(struct picture *pic, const struct page_agg *a,
    const struct page_bucket *b, uint64_t longest)
{
	struct str *to = &pic->body, label = { 0 };
	double width = longest == 0 ?
	    0 :
	    (double)bar_size(b->count) / (double)longest * BAR;

	page_bucket_label(a, b, &label);
	str_printf(to, "<g class=\"bar\" data-count=\"%lld\"><title>",
	    (long long)b->count);
	text_add_xml(to, str_c(&label));
	str_printf(to,
	    "\n%lld</title><text x=\"%d\" y=\"%u\" "
	    "text-anchor=\"end\">",
	    (long long)b->count, PICTURE_MARGIN + LABEL,
	    pic->y + PICTURE_ROW - 5);
	text_add_xml(to, str_c(&label));
	str_printf(to,
	    "</text><rect x=\"%d\" y=\"%u\" width=\"%.2f\" height=\"%d\" "
	    "fill=\"%s\"/><text x=\"%.2f\" y=\"%u\">%lld</text></g>\n",
	    PICTURE_MARGIN + LABEL + 8, pic->y, width, PICTURE_ROW - 3,
	    b->count < 0 ? "#b55" : "#58a", PICTURE_MARGIN + LABEL + 14 + width,
	    pic->y + PICTURE_ROW - 5, (long long)b->count);
	pic->y += PICTURE_ROW;
	str_fini(&label);
}

static void
hist_draw(
    struct picture *pic, const struct page_agg *a, const struct page_entry *e)
{
	struct str text = { 0 };
	uint64_t longest = 0;

	str_printf(&text, "@%s%s%s", own(picture_name(a)),
	    *e->text != '\0' ? ": " : "", own(e->text));
	picture_head(pic, str_c(&text));
	str_fini(&text);
	str_add(&pic->body, "<g class=\"hist\">\n");
	vec_foreach(b, &e->buckets)
		longest = MAX(longest, bar_size(b->count));
	vec_foreach(b, &e->buckets)
		bar_draw(pic, a, b, longest);
	str_add(&pic->body, "</g>\n");
	pic->y += PICTURE_ROW / 2;
	pic->n++;
}

void
picture_hists(struct picture *pic, struct page_agg *a)
{
	if (!a->is_hist)
		return;
	page_agg_order(a);
	vec_foreach(e, &a->entries)
		hist_draw(pic, a, *e);
	if (a->keys > a->entries.len) {
		struct str text = { 0 };
		str_printf(&text, "@%s: %llu more are not shown",
		    own(picture_name(a)),
		    (unsigned long long)(a->keys - a->entries.len));
		picture_head(pic, str_c(&text));
		str_fini(&text);
	}
}
