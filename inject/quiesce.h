/*
 * Tells which slots have a thread inside, before slots are freed.  For files of
 * inject/ only.
 */
#ifndef INJECT_QUIESCE_H
#define INJECT_QUIESCE_H

#include <stdbool.h>

#include "dlang/base/hash.h"
#include "inject/target.h"

struct slots;
struct tracepoint;

/* The tracepoints whose slots are occupied, as of quiesce_init(). */
struct quiesce {
	struct hash busy; /* key: the pointer to the tracepoint */
	bool all; /* the pc of a thread is unknown: every slot counts as busy */
};

/* Read the pc of every thread of the target.  All must be stopped. */
void quiesce_init(struct quiesce *q, struct target *t, const struct slots *s);
void quiesce_fini(struct quiesce *q);

bool quiesce_busy(const struct quiesce *q, const struct tracepoint *tp);

#endif
