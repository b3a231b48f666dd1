/*
 * Aggregations as samples of stacks, for formats that have nothing else.
 *
 * What can be added is a count() or a sum() with a stack among its keys.  The
 * values are those that text prints.  What is left out is told in messages.
 */
#ifndef TRACER_CONSUME_SAMPLES_H
#define TRACER_CONSUME_SAMPLES_H

#include "tracer/consume/consume_impl.h"

struct sample {
	const struct prog_agg *def;
	const uint8_t *key;
	int64_t value; /* above 0 */
};

/* Does a member of its key hold a stack? */
bool agg_has_stack(const struct prog_agg *def);

/* The number of aggregations that have samples, and which; the caller frees
 * *defs. */
size_t samples_aggs(struct consume *c, const struct prog_agg ***defs);

/* Call each() for each key of these aggregations, in the order of text. */
typedef void (*sample_fn)(void *ctx, const struct sample *s);
void samples_each(struct consume *c, sample_fn each, void *ctx);

/* The member of a key as one word, without blanks at its ends. */
void sample_label(struct consume *c, const struct prog_rec *rec,
    const uint8_t *key, struct str *to);

/* For struct sink: count the statements whose output is left out. */
void samples_stmt(struct consume *c, const struct prog_stmt *st);
/* Print messages about what was left out. */
void samples_tell(struct consume *c);

#endif
