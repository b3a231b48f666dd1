/*
 * Pictures of aggregations, one below the other in one SVG file that needs
 * nothing else.
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
	unsigned y; /* how far it goes down */
	unsigned n; /* pictures in it */
};

/* What a browser runs: picture.js. */
extern const char picture_js[];

/* The aggregation's, without its @. */
const char *picture_name(const struct prog_agg *def);
/* A heading on a line of its own; the text is formatted, and quoted. */
void picture_head(struct picture *pic, const char *text);

/* How the flames of an aggregation are as wide as its values: nothing is drawn
 * for one without a stack in its key, or whose values do not add up. */
void picture_flame(struct picture *pic, const struct prog_agg *def);
/* The histogram of each key of a quantization. */
void picture_hists(struct picture *pic, const struct prog_agg *def);

#endif
