/*
 * Pictures of aggregations (option report): one below the other, in one SVG
 * file without references to other files.
 */
#ifndef TRACER_CONSUME_PICTURE_H
#define TRACER_CONSUME_PICTURE_H

#include "tracer/consume/consume_impl.h"

#define PICTURE_WIDTH  1200 /* of the drawing, margins included */
#define PICTURE_MARGIN 10
#define PICTURE_ROW    17  /* pixels from line to line */
#define PICTURE_CHAR   6.7 /* the width of a character, about */

struct picture {
	struct consume *c;
	struct str body;
	unsigned y; /* height so far, pixels */
	unsigned n; /* number of pictures so far */
};

/* The script of the SVG file: picture.js. */
extern const char picture_js[];

/* The name of an aggregation, without @. */
const char *picture_name(const struct prog_agg *def);
/* Add a heading on a line of its own.  The text must be escaped for XML. */
void picture_head(struct picture *pic, const char *text);

/* Draw a flame graph of an aggregation; the width of a box is the sum of its
 * values.  Draws nothing if the key contains no stack, or if the values cannot
 * be added. */
void picture_flame(struct picture *pic, const struct prog_agg *def);
/* Draw the histogram of each key of a quantization. */
void picture_hists(struct picture *pic, const struct prog_agg *def);

#endif
