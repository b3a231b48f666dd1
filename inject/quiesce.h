/*
 * Which slots have a thread inside: asked before slots are freed.  For files
 * of inject/ only.
 */
#ifndef INJECT_QUIESCE_H
#define INJECT_QUIESCE_H

#include <stdbool.h>
#include <stdint.h>

#include "dlang/base/hash.h"
#include "inject/target.h"

struct slots;
struct tracepoint;

/* The tracepoints whose slots are occupied, as of quiesce_init(). */
struct quiesce {
	struct hash busy; /* by the tracepoint's address in our memory */
	bool all;         /* a thread is somewhere, we do not know where */
};

/* Ask every thread of the target, once.  All of them are stopped. */
void quiesce_init(struct quiesce *q, struct target *t, const struct slots *s);
void quiesce_fini(struct quiesce *q);

bool quiesce_busy(const struct quiesce *q, const struct tracepoint *tp);

#endif
