/*
 * Stacks; see stack.h.
 */
#include "tracer/stack.h"

#include "inject/resume.h"
#include "symbols/lang.h"
#include "symbols/unwind.h"
#include "tracer/proc.h"
#include "tracer/procfs.h"
#include "tracer/state.h"

/* The space that the stack is walked in, with an unwinder, and the registers it
 * begins with; or NULL. */
static struct space *
begin(struct state *st, struct uregs *at)
{
	struct uregs *regs;

	if (st->thread == NULL || (regs = thread_regs(st->thread)) == NULL)
		return NULL;
	struct space *sp = st->thread->proc->space;
	if (sp->unwinder == NULL) {
		if (sp->as == NULL)
			return NULL;
		sp->unwinder = unwinder_create(sp->as);
	}
	/* A sampled thread may be in a slot: its frame is that of the text. */
	*at = *regs;
	if (sp->tab != NULL)
		at->r[UREG_RIP] = resume_text_pc(sp->tab, at->r[UREG_RIP]);
	return sp;
}

size_t
stack_user(struct state *st, uint64_t *pcs, size_t max)
{
	struct uregs at;
	struct space *sp = max != 0 ? begin(st, &at) : NULL;

	return sp != NULL ? unwind(sp->unwinder, &at, &sp->text, pcs, max) : 0;
}

size_t
stack_lang(struct state *st, uint64_t *words, size_t max, uint64_t *lost)
{
	struct uregs at;
	struct space *sp = max != 0 ? begin(st, &at) : NULL;

	if (sp == NULL)
		return 0;
	if (sp->langs == NULL)
		sp->langs = langs_create(sp->as);
	struct thread *own = st->thread;
	if (own->inner_tid == 0 &&
	    procfs_inner(own->tid, &own->inner_pid, &own->inner_tid) != 0) {
		own->inner_pid = own->proc->pid;
		own->inner_tid = own->tid;
	}
	const struct lang_thread th = {
		.pid = own->proc->pid,
		.inner_pid = own->inner_pid,
		.inner_tid = own->inner_tid,
		.fs_base = at.r[UREG_FS_BASE],
	};
	return langs_unwind(
	    sp->langs, sp->unwinder, &at, &sp->text, &th, words, max, lost);
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
