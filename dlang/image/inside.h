/*
 * Which clauses of the image can be run inside the target (inject/agent/): by what
 * they need, and by where the arguments that they ask for are at the site.
 *
 * What can be had there: registers, arguments in registers, the time, the
 * processor, ids of process and thread, clause-locals, self->, aggregations, and
 * records in a buffer that is not kept to the end; strings that come from none but
 * these.
 */
#ifndef DLANG_IMAGE_INSIDE_H
#define DLANG_IMAGE_INSIDE_H

#include "dlang/base/str.h"
#include "dlang/dif.h"
#include "dlang/vm/region.h"

/* The place where they would run. */
struct inside {
	struct region image; /* the tracer's */
	bool clock;          /* the time can be read (struct agent) */
	bool switches; /* bufpolicy=switch: others have one buffer a run */
};

/*
 * Can every clause of every site of a tracepoint be run inside, and those of
 * ERROR, which any of them may fire?  If not, why is appended: the first reason,
 * as "argument 6 is in memory", "for a stack, errno".  Ask again when the image
 * has got another site of this tracepoint, or a clause of one of its probes.
 */
bool inside_tracepoint(
    const struct inside *in, uint32_t tp_id, struct str *why);
/* The same of one site. */
bool inside_site(const struct inside *in, uint32_t site_ref, struct str *why);

#endif
