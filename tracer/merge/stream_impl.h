/*
 * Shared by the files that read a stream.
 */
#ifndef TRACER_MERGE_STREAM_IMPL_H
#define TRACER_MERGE_STREAM_IMPL_H

#include "tracer/merge/stream.h"

/* stream_describe.c: lines that describe.  False: what they say cannot be. */
bool describe_head(struct stream *s, struct wire_line *l);
bool describe_option(struct stream *s, struct wire_line *l);
bool describe_source(struct stream *s, struct wire_line *l);
bool describe_agg(struct stream *s, struct wire_line *l);
bool describe_clause(struct stream *s, struct wire_line *l);
bool describe_probe(struct stream *s, struct wire_line *l);
/* The clauses name aggregations by the reader's ids from now on. */
void describe_translate(struct stream *s);

/* stream_value.c: lines with values. */
bool value_name(struct stream *s, struct wire_line *l);
bool value_rows(struct stream *s, struct wire_line *l);
bool value_record(struct stream *s, struct wire_line *l);

#endif
