/*
 * Parts: private data of one source file about a thread, a process, an address
 * space or the run.
 *
 *	static const struct part trail = { .size = sizeof(struct trail) };
 *	struct trail *t = part_of(&th->parts, &trail);
 *
 * A part is created, all zeroes, when it is first used, and freed with its
 * thread, process, space or run.
 */
#ifndef TRACER_BASE_PART_H
#define TRACER_BASE_PART_H

#include <stdbool.h>
#include <stddef.h>

#include "dlang/base/vec.h"

struct part {
	size_t size;
	/* A fork's child process, and its first thread, get a copy of the
	 * parent's part.  The part must not contain pointers. */
	bool inherited;
	void (*end)(void *part); /* frees what it points to; or NULL */
};

struct parts {
	VEC(struct {
		const struct part *part;
		void *at;
	})
	list;
};

void *part_of(struct parts *ps, const struct part *part);
/* The part, or NULL if it was never created. */
void *part_had(const struct parts *ps, const struct part *part);

/* For the owner of the parts: */
void parts_inherit(struct parts *ps, const struct parts *from);
void parts_end(struct parts *ps);

#endif
