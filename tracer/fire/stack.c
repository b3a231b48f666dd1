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

/* What reads the stacks of a space: made when it is first needed. */
struct stacks {
	struct unwinder *unwinder;
	struct langs *langs;
};

static void
stacks_end(void *part)
{
	struct stacks *s = part;

	langs_destroy(s->langs);
	unwinder_destroy(s->unwinder);
}

static const struct part stacks_part = { .size = sizeof(struct stacks),
	.end = stacks_end };

struct unwinder *
space_unwinder(struct space *sp)
{
	struct stacks *s = part_of(&sp->parts, &stacks_part);

	if (s->unwinder == NULL && sp->as != NULL)
		s->unwinder = unwinder_create(sp->as);
	return s->unwinder;
}

void
stack_flush(struct space *sp)
{
	struct stacks *s = part_had(&sp->parts, &stacks_part);

	if (s != NULL && s->unwinder != NULL)
		unwinder_flush(s->unwinder);
	if (s != NULL && s->langs != NULL)
		langs_flush(s->langs);
}

/* The address space in which to walk the stack, with an unwinder, and in *at
 * the registers to begin with. NULL if the stack cannot be walked. */
static struct space *
begin(struct thread *th, struct uregs *at)
{
	struct uregs *regs;

	if (th == NULL || (regs = thread_regs(th)) == NULL)
		return NULL;
	struct space *sp = th->proc->space;
	if (space_unwinder(sp) == NULL)
		return NULL;
	/* A sampled thread may be in a slot: begin at the original instruction
	 * in the text. */
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

	return sp != NULL ?
	    unwind(space_unwinder(sp), &at, &sp->text, pcs, max) :
	    0;
}

/* The IDs of a thread in its own PID namespace. */
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
	struct stacks *s = part_of(&sp->parts, &stacks_part);
	if (s->langs == NULL)
		s->langs = langs_create(sp->as);
	const struct inner *in = inner_of(th);
	const struct lang_thread who = {
		.pid = th->proc->pid,
		.inner_pid = in->pid,
		.inner_tid = in->tid,
		.thread_base = at.r[UREG_THREAD],
	};
	return langs_unwind(
	    s->langs, s->unwinder, &at, &sp->text, &who, words, max, lost);
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
