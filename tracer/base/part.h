/*
 * What other files keep about a thread, a process, a space or the run: each in a
 * part of its own, which nobody else sees.
 *
 *	static const struct part trail = { .size = sizeof(struct trail) };
 *	struct trail *t = part_of(&th->parts, &trail);
 *
 * A part is made when it is first asked for, all zeros, and ends with what it is
 * a part of.
 */
#ifndef TRACER_BASE_PART_H
#define TRACER_BASE_PART_H

#include <stdbool.h>
#include <stddef.h>

#include "dlang/base/vec.h"

struct part {
	size_t size;
	/* A process that comes of a fork has its maker's as it is then; so has
	 * its first thread.  There may be no pointer in it. */
	bool inherited;
	void (*end)(void *part); /* what it points to; or NULL */
};

struct parts {
	VEC(struct {
		const struct part *part;
		void *at;
	})
	list;
};

void *part_of(struct parts *ps, const struct part *part);
/* NULL when it was never asked for. */
void *part_had(const struct parts *ps, const struct part *part);

/* For who has the parts: */
void parts_inherit(struct parts *ps, const struct parts *from);
void parts_end(struct parts *ps);

#endif
