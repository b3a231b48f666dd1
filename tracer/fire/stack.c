/*
 * Stacks; see stack.h.
 */
#include "tracer/fire/stack.h"

#include <string.h>
#include "inject/resume.h"
#include "symbols/lang.h"
#include "symbols/unwind.h"
#include "tracer/ptrace/proc.h"
#include "tracer/ptrace/procfs.h"
#include "tracer/base/state.h"

static void
on_differ(void *ctx, const char *text)
{
	state_message(ctx, "%s", text);
}

void
stack_start(struct state *st)
{
	const char *who = st->opts.text[OPT_UNWINDER];
	enum unwinder_kind kind = UNWINDER_RULES;

	if (who != NULL && strcasecmp(who, "libunwind") == 0)
		kind = UNWINDER_LIBUNWIND;
	else if (who != NULL && strcasecmp(who, "check") == 0)
		kind = UNWINDER_CHECK;
	unwind_choose(kind, on_differ, st);
}

/* The space that the stack is walked in, with an unwinder, and the registers it
 * begins with; or NULL. */
static struct space *
begin(struct thread *th, struct uregs *at)
{
	struct uregs *regs;

	if (th == NULL || (regs = thread_regs(th)) == NULL)
		return NULL;
	struct space *sp = th->proc->space;
	if (sp->unwinder == NULL) {
		if (sp->as == NULL)
			return NULL;
		sp->unwinder = unwinder_create(sp->as);
	}
	/* A sampled thread may be in a slot: its frame is that of the text. */
	*at = *regs;
	if (sp->tab != NULL)
		at->r[UREG_PC] = resume_text_pc(sp->tab, at->r[UREG_PC]);
	return sp;
}

size_t
stack_user(struct thread *th, uint64_t *pcs, size_t max)
{
	struct uregs at;
	struct space *sp = max != 0 ? begin(th, &at) : NULL;

	return sp != NULL ? unwind(sp->unwinder, &at, &sp->text, pcs, max) : 0;
}

/* A thread by the numbers of its own PID namespace. */
struct inner {
	pid_t pid, tid;
};

static const struct inner *
inner_of(struct thread *th)
{
	static const struct part part = { .size = sizeof(struct inner) };
	struct inner *in = part_of(&th->parts, &part);

	if (in->tid == 0 && procfs_inner(th->tid, &in->pid, &in->tid) != 0)
		*in = (struct inner){ th->proc->pid, th->tid };
	return in;
}

size_t
stack_lang(struct thread *th, uint64_t *words, size_t max, uint64_t *lost)
{
	struct uregs at;
	struct space *sp = max != 0 ? begin(th, &at) : NULL;

	if (sp == NULL)
		return 0;
	if (sp->langs == NULL)
		sp->langs = langs_create(sp->as);
	const struct inner *in = inner_of(th);
	const struct lang_thread who = {
		.pid = th->proc->pid,
		.inner_pid = in->pid,
		.inner_tid = in->tid,
		.thread_base = at.r[UREG_THREAD],
	};
	return langs_unwind(
	    sp->langs, sp->unwinder, &at, &sp->text, &who, words, max, lost);
}

uint32_t
stack_depth(struct thread *th, int64_t max)
{
	max = max < 1 || max > 4096 ? 512 : max;
	uint64_t *pcs = mem_alloc((size_t)max * sizeof(*pcs));
	size_t n = stack_user(th, pcs, (size_t)max);
	mem_free(pcs);
	return (uint32_t)n;
}
