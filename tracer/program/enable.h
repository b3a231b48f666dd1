/*
 * Enables clauses: matches probe descriptions to probes and makes ECBs, at the
 * start and again when an object is mapped or a program is executed.
 */
#ifndef TRACER_PROGRAM_ENABLE_H
#define TRACER_PROGRAM_ENABLE_H

#include <stdint.h>

struct diags;
struct probe_desc;
struct span;
struct state;

/* Ask every provider to create the probes that the description means.  Returns
 * the number of probes that match, or a negative errno after a diagnostic in
 * d. */
int64_t enable_provide(struct state *st, const struct probe_desc *pd,
    const struct span *at, struct diags *d);

/*
 * Enable every clause of the session on every probe that it matches and that
 * was created since the last call.  sites_commit_all() then arms the
 * tracepoints.  0, or -ENOSPC if the image is full.
 */
int enable_apply(struct state *st);

/* The size of all records of END's clauses, padding included. */
uint64_t enable_end_size(const struct state *st);

/* New objects may match: create probes again for every clause, and apply.  If
 * not all can be enabled, that is reported once. */
void enable_again(struct state *st);

#endif
