/*
 * One pass over the threads finds all occupied slots, however many are to be
 * freed: O(threads + slots), not their product.
 */
#include "inject/quiesce.h"

#include "inject/slot.h"

void
quiesce_init(struct quiesce *q, struct target *t, const struct slots *s)
{
	uint64_t pc;

	*q = (struct quiesce){ 0 };
	for (unsigned n = 0; t->ops->thread_pc(t, n, &pc) == 0; n++) {
		struct tracepoint *tp = slot_owner(s, pc);
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
	return hash_get(&q->busy, (uintptr_t)tp) != NULL;
}
