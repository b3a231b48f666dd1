/*
 * Parts of JSON output that several formats share.  doc/json.md describes
 * them, doc/json.schema.json defines them.
 *
 * All text in it is UTF-8, whatever a target's strings are (text_add_json()).
 */
#ifndef TRACER_CONSUME_JSON_H
#define TRACER_CONSUME_JSON_H

#include "tracer/consume/consume_impl.h"

/* Append the number that is recorded in a REC_INT. */
void json_int(struct str *to, const struct prog_rec *rec, const void *v);
/* Append a floating-point number; as a string if JSON has no number for it. */
void json_float(struct str *to, const void *v, uint32_t size);
/* Append "0x1f", a string. */
void json_hex(struct str *to, uint64_t v);
/* Append the bytes as a string of hexadecimal digits. */
void json_bytes(struct str *to, const void *v, size_t size);

/* Append an object: a value that a statement of this kind has recorded, or with
 * ACT_NONE a member of a key. */
void json_value(struct printer *p, enum dif_act kind,
    const struct prog_rec *rec, const uint8_t *v);

/* Append the objects that stand for a statement of the record in c->rec,
 * with a comma between them, and one before the first if *n is not 0.  Adds
 * their number to *n. */
void json_stmt(struct consume *c, struct printer *p, const struct prog_stmt *st,
    size_t *n);

/* Append the members that describe a probe: id, provider and so on. */
void json_probe(struct str *to, const struct probe_text *probe);

/* Append the members that describe an aggregation with all its keys.  There may
 * be very many: after each, flush() may take away what is there.  NULL: it all
 * stays. */
typedef void (*json_flush_fn)(void *ctx, struct str *text);
void json_agg(struct printer *p, uint32_t id, json_flush_fn flush, void *ctx);

/* print(): append a list of objects, the value itself and its members. */
void json_object(struct printer *p, const uint8_t *addr,
    const struct type *type, const void *v, size_t size);

/* Append a line of the format. */
void json_line_begin(struct str *to, const struct asked *a);
void json_line_error(
    struct str *to, const struct consume *c, const struct sink_error *e);
void json_line_drop(struct str *to, const struct consume *c,
    const struct sink_drop *d, uint64_t total);
void json_line_end(struct str *to, uint64_t records, uint64_t errors,
    uint64_t drops, int status);

#endif
