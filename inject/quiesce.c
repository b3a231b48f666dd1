/*
 * One pass over the threads finds all occupied slots, however many are to be
 * freed: O(threads + slots), not their product.
 */
#include "inject/quiesce.h"

#include <errno.h>

#include "inject/slot.h"

void
quiesce_init(struct quiesce *q, struct target *t, const struct slots *s)
{
	uint64_t pc;
	int r;

	*q = (struct quiesce){ 0 };
	for (unsigned n = 0; (r = t->ops->thread_pc(t, n, &pc)) != -ENOENT;
	     n++) {
		struct tracepoint *tp = r == 0 ? slot_owner(s, pc) : NULL;
		q->all |= r != 0;
		if (tp != NULL)
			hash_set(&q->busy, (uintptr_t)tp, tp);
	}
}

void
quiesce_fini(struct quiesce *q)
{
	hash_fini(&q->busy);
}

bool
quiesce_busy(const struct quiesce *q, const struct tracepoint *tp)
{
	return q->all || hash_get(&q->busy, (uintptr_t)tp) != NULL;
}
