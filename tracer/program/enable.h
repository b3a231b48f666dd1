/*
 * Clauses to ECBs: match descriptions to probes, once at the start and again
 * when an object is mapped or a program is executed.
 */
#ifndef TRACER_PROGRAM_ENABLE_H
#define TRACER_PROGRAM_ENABLE_H

#include <stdint.h>

struct diags;
struct probe_desc;
struct span;
struct state;

/* Ask every provider to publish what the description means.  The number of
 * probes that match, or a negative errno reported to d. */
int64_t enable_provide(struct state *st, const struct probe_desc *pd,
    const struct span *at, struct diags *d);

/*
 * Put every clause of the session on every probe that it matches and that was
 * published since the last call; sites_commit_all() then arms what that needs.
 * -ENOSPC when the image is full.
 */
int enable_apply(struct state *st);

/* What the clauses of END record, padding included. */
uint64_t enable_end_size(const struct state *st);

/* New objects may match: publish again for every clause, then apply.  That not
 * all could be enabled is said once. */
void enable_again(struct state *st);

#endif
