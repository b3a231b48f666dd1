/*
 * Stacks; see stack.h.
 */
#include "tracer/stack.h"

#include "inject/resume.h"
#include "symbols/unwind.h"
#include "tracer/proc.h"
#include "tracer/state.h"

size_t
stack_user(struct state *st, uint64_t *pcs, size_t max)
{
	struct uregs *regs;

	if (st->thread == NULL || max == 0 ||
	    (regs = thread_regs(st->thread)) == NULL)
		return 0;
	struct space *sp = st->thread->proc->space;
	if (sp->unwinder == NULL) {
		if (sp->as == NULL)
			return 0;
		sp->unwinder = unwinder_create(sp->as);
	}
	/* A sampled thread may be in a slot: its frame is that of the text. */
	struct uregs at = *regs;
	if (sp->tab != NULL)
		at.r[UREG_RIP] = resume_text_pc(sp->tab, at.r[UREG_RIP]);
	return unwind(sp->unwinder, &at, &sp->text, pcs, max);
}

uint32_t
stack_depth(struct state *st)
{
	int64_t max = option_get(&st->opts, OPT_MAXFRAMES);

	max = max < 1 || max > 4096 ? 512 : max;
	uint64_t *pcs = mem_alloc((size_t)max * sizeof(*pcs));
	size_t n = stack_user(st, pcs, (size_t)max);
	mem_free(pcs);
	return (uint32_t)n;
}
