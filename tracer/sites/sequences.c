/*
 * See sequences.h.  A program describes each sequence by a struct rseq_cs, whose
 * address it gives to the kernel when it enters the sequence.  Debuggers and we find
 * these in a section that has that name by convention.  The run-time linker has
 * relocated them, so they are read from memory.
 */
#include "tracer/sites/sequences.h"

#include <linux/rseq.h>

#include "dlang/base/reader.h"
#include "symbols/addrspace.h"
#include "tracer/ptrace/super.h"

#define SECTION "__rseq_cs"
/* An object that has more is damaged. */
#define MOST 65536U

static void
find(struct sequences *q, struct space *sp, const struct load *l)
{
	uint64_t at, end;
	struct rseq_cs cs;

	if (!object_section(l->object, SECTION, &at, &end))
		return;
	for (; at + sizeof(cs) <= end && q->list.len < MOST; at += sizeof(cs))
		if (reader_read(&sp->mem, l->bias + at, &cs, sizeof(cs)) == 0)
			*vec_push(&q->list) = (struct body_range){ cs.start_ip,
				cs.start_ip + cs.post_commit_offset };
}

void
sequences_end(struct sequences *q)
{
	vec_fini(&q->list);
	*q = (struct sequences){ 0 };
}

bool
sequences_contain(struct sequences *q, struct space *sp, const struct load *l,
    uint64_t start, uint64_t end)
{
	if (q->load != l) {
		sequences_end(q);
		q->load = l;
		find(q, sp, l);
	}
	vec_foreach(s, &q->list)
		if (start < s->end && s->start < end)
			return true;
	return false;
}
