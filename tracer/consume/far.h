/*
 * What another host's consumer had: its records, errors and drops are printed
 * here as if they were ours, with the host's name.
 */
#ifndef TRACER_CONSUME_FAR_H
#define TRACER_CONSUME_FAR_H

#include <stdint.h>

struct consume;
struct probe_text;
struct rec_hdr;
struct sink_drop;
struct sink_error;

/* A record of `size' bytes, laid out as the clause of the probe says, header
 * first. */
void far_record(struct consume *c, const char *host,
    const struct probe_text *probe, const uint8_t *rec, uint32_t size);
/* What was added to an aggregation under a key, whose addresses have names
 * (langname.h).  `cpu' is as in struct agg_entry.  Without room it is a drop. */
void far_row(struct consume *c, uint32_t id, const uint8_t *key, uint32_t cpu,
    const uint64_t *value);
void far_error(struct consume *c, const char *host, const struct sink_error *e,
    const struct rec_hdr *hdr);
void far_drop(struct consume *c, const char *host, const struct sink_drop *d);

#endif
