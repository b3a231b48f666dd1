/*
 * Decides which clauses of the image can run inside the target (inject/agent/).
 * That depends on what they need, and on where their arguments are at the site.
 *
 * Available inside the target are: registers, arguments, memory, the time,
 * the processor, ids of process and thread, clause-locals, self->,
 * aggregations, records in a buffer that is not kept to the end, and strings
 * made from these.
 *
 * A predicate for which this is enough runs inside even if the actions do not:
 * if it is true, the tracer carries them out (struct vm_ops, rest).
 */
#ifndef DLANG_IMAGE_INSIDE_H
#define DLANG_IMAGE_INSIDE_H

#include "dlang/base/str.h"
#include "dlang/dif.h"
#include "dlang/vm/region.h"

/* What is known about the place where they would run. */
struct inside {
	struct region image; /* the tracer's */
	bool clock;          /* the time can be read (struct agent) */
};

/*
 * Can every clause at every site of a tracepoint run inside, or its predicate at
 * least, and the clauses of ERROR, which any of them may fire?  If not, the first
 * reason is appended to `why', for example "argument 6 is in memory" or "for a
 * stack, errno".  The answer may change when the image gets another site of this
 * tracepoint or another clause of one of its probes.
 */
bool inside_tracepoint(
    const struct inside *in, uint32_t tp_id, struct str *why);

/*
 * Do the needs of a clause allow that it runs inside, or its predicate at least?
 * If not, the reason is appended to `why'.  `outside' is IMG_CLAUSE_OUTSIDE,
 * `needs' are those of the whole clause, `pred' those of its predicate.  NULL:
 * there is none, or the actions cannot be left to the tracer, as in a clause of
 * ERROR, which fires at no site to which the tracer could return.
 */
bool inside_needs(
    bool outside, uint32_t needs, const uint32_t *pred, struct str *why);

#endif
