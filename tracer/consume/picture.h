/*
 * The SVG picture of a page: flame graphs and histograms, one below the other,
 * without references to other files.
 */
#ifndef TRACER_CONSUME_PICTURE_H
#define TRACER_CONSUME_PICTURE_H

#include "tracer/consume/page_impl.h"

#define PICTURE_WIDTH  1200 /* of the drawing, margins included */
#define PICTURE_MARGIN 10
#define PICTURE_ROW    17  /* pixels from line to line */
#define PICTURE_CHAR   6.7 /* the width of a character, about */

struct picture {
	struct page *page;
	struct str body;
	unsigned y; /* height so far, pixels */
	unsigned n; /* number of pictures so far */
};

/* The script of the SVG file: picture.js. */
extern const char picture_js[];

/* The name of an aggregation, without @. */
const char *picture_name(const struct page_agg *a);
/* Add a heading on a line of its own.  The text must be escaped for XML. */
void picture_head(struct picture *pic, const char *text);

/* Draw a flame graph of an aggregation; the width of a box is the sum of its
 * values.  Draws nothing if the key contains no stack, or if the values cannot
 * be added. */
void picture_flame(struct picture *pic, struct page_agg *a);
/* Draw the histogram of each key of a quantization. */
void picture_hists(struct picture *pic, struct page_agg *a);

#endif
