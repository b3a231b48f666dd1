/*
 * Restartable sequences (rseq(2)) of a program.  The kernel knows by the pc that a
 * thread is in one, so none of its instructions may run elsewhere: the thread would
 * not be sent to the abort handler when it loses its processor.
 */
#ifndef TRACER_SITES_SEQUENCES_H
#define TRACER_SITES_SEQUENCES_H

#include <stdbool.h>
#include <stdint.h>

#include "disasm/body.h"
#include "dlang/base/vec.h"

struct load;
struct space;

/* Those of one object; begins as zeroes. */
struct sequences {
	const struct load *load;
	VEC(struct body_range) list;
};

void sequences_end(struct sequences *q);

/* Is part of [start, end), which is in load l, in one? */
bool sequences_contain(struct sequences *q, struct space *sp,
    const struct load *l, uint64_t start, uint64_t end);

#endif
