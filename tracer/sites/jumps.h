/*
 * Jumps in the place of int3s, under option fastpath: where one may be, what it
 * leads to, and why there is none elsewhere.
 *
 * The int3 is always there first.  A tracepoint gets a jump where its clauses can
 * be run inside (dlang/image/inside.h), it always fires, and there are whole
 * instructions to take the place of (disasm/window.h); and when no thread is, or
 * will come back, between them.
 */
#ifndef TRACER_SITES_JUMPS_H
#define TRACER_SITES_JUMPS_H

#include <stdbool.h>

struct fast_jump;
struct space;
struct region;
struct state;
struct store_sizes;
struct thread;
struct tracepoint;

/* While threads run: what is known of the code. */
void jumps_prepare(struct state *st, struct space *sp);
/* All threads are stopped, and what was queued is committed. */
void jumps_commit(struct state *st, struct space *sp);
/* The space is a fork's child's, which has nothing that jumps lead to: its jumps
 * are int3s again.  The caller commits, under option fastpath. */
void jumps_forked(struct state *st, struct space *sp);
/* A hit in the space was made by trap. */
void jumps_trapped(struct state *st, struct space *sp);
/* When the trace begins: fast_start(); from now on jumps are tried again in all
 * spaces.  The caller commits what is allowed at once. */
void jumps_start(struct state *st, const struct region *image,
    const struct store_sizes *whole);

/* The int3 again, now: what is behind it is the program's own. */
void jumps_lower(struct space *sp, struct tracepoint *tp);

void jump_free(struct fast_jump *j);

/* The space is about to lose its tracepoints: which had a jump, and which had none,
 * is counted for fast_report(). */
void jumps_account(struct state *st, struct space *sp);

#endif
