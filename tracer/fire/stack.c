/*
 * Stacks; see stack.h.
 */
#include "tracer/fire/stack.h"

#include <errno.h>
#include <string.h>

#include "dlang/base/str.h"
#include "inject/resume.h"
#include "symbols/lang.h"
#include "symbols/langname.h"
#include "symbols/unwind.h"
#include "tracer/fire/records.h"
#include "tracer/ptrace/perfevent.h"
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
	at->r[UREG_PC] =
	    resume_thread_pc(sp->tab, at->r[UREG_PC], at->r[UREG_SP]);
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

size_t
stack_tell(struct thread *th, uint64_t *pcs, size_t max, bool *whole)
{
	struct uregs at;
	struct space *sp = max != 0 ? begin(th, &at) : NULL;

	*whole = false;
	return sp != NULL ?
	    unwind_tell(space_unwinder(sp), &at, &sp->text, pcs, max, whole) :
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

/* ---- threads that were not stopped: those that sleep ---- */

/* Frames that are kept while a thread waits: ustackframes is 100. */
#define KEPT_MOST 512

/* The word for a frame that stands for what is not known. */
static size_t
mark(const char *text, uint64_t *word)
{
	const struct lang_name name = { .function = text };

	*word = langname_word(&name);
	return *word != 0;
}

/* Has the thread just lost its processor because it waits for something? */
static bool
may_sleep(const struct perf_record *r)
{
	return r->source == PERF_SWITCHES && r->out && !r->preempted;
}

/*
 * The stack of a thread that sleeps since the record.  It is read while other
 * threads run; they do not change it, as a rule.  0: the thread has run since, or
 * does not sleep.
 */
static size_t
asleep(struct state *st, struct thread *th, const struct perf_record *r,
    uint64_t *pcs, size_t max)
{
	struct space *sp = th->proc->space;
	uint64_t pc, top;
	bool cut;

	if (space_unwinder(sp) == NULL || !may_sleep(r) ||
	    records_ran_since(st, th, r->time) ||
	    procfs_pc(th->tid, &pc, &top) != 0)
		return 0;
	pc = resume_thread_pc(sp->tab, pc, top);
	size_t n = unwind_asleep(
	    space_unwinder(sp), pc, top, &sp->text, pcs, max, &cut);
	if (records_ran_since(st, th, r->time))
		return 0;
	return n + (cut && n < max ? mark("[cut]", &pcs[n]) : 0);
}

/* ---- by a copy ---- */

/* Memory in which the stack is as it was: what is in the copy is read there. */
struct copy {
	uint64_t addr;
	const uint8_t *bytes;
	size_t len;
	const struct reader *live;
};

/* What is above the copy, up to here, counts as stack, and is not known. */
#define ABOVE_BYTES (1UL << 20)

static int
copy_read(void *ctx, uint64_t addr, void *buf, size_t len)
{
	const struct copy *c = ctx;
	uint64_t end = c->addr + c->len;

	if (addr + len <= c->addr || addr >= end + ABOVE_BYTES)
		return reader_read(c->live, addr, buf, len);
	if (addr >= end)
		return -EFAULT;
	/* The unwinder reads more than it needs. */
	memset(buf, 0, len);
	size_t below = addr < c->addr ? c->addr - addr : 0;
	size_t from = addr > c->addr ? addr - c->addr : 0;
	memcpy((uint8_t *)buf + below, c->bytes + from,
	    MIN(len - below, c->len - from));
	return 0;
}

/* The stack in a sample.  0: there is none. */
static size_t
sampled(
    struct thread *th, const struct perf_record *r, uint64_t *pcs, size_t max)
{
	struct space *sp = th->proc->space;
	struct uregs at = r->regs;
	struct copy c = {
		.addr = at.r[UREG_SP],
		.bytes = r->stack,
		.len = r->stack_len,
		.live = &sp->text,
	};
	const struct reader mem = { copy_read, &c };
	bool whole;

	if (!r->has_regs || r->stack_len == 0 || space_unwinder(sp) == NULL)
		return 0;
	if (sp->tab != NULL)
		at.r[UREG_PC] = resume_text_pc(sp->tab, at.r[UREG_PC]);
	size_t n = unwind_tell(space_unwinder(sp), &at, &mem, pcs, max, &whole);
	bool cut = !whole && r->stack_cut && n < max;
	return n + (cut ? mark("[cut]", &pcs[n]) : 0);
}

/* ---- kept ---- */

/* Part of a thread: its stack when it lost the processor.  It is the same when it
 * gets one again. */
struct kept {
	uint64_t time; /* of the record; 0: none */
	VEC(uint64_t) pcs;
	/* Or the record just before that (PERF_LEAVES), with a copy of its stack: it
	 * is walked only if a clause asks for it. */
	struct perf_record leaves; /* time 0: none */
	struct str bytes;
	bool early; /* that is the last record of the thread */
};

static void
kept_end(void *part)
{
	struct kept *k = part;

	vec_fini(&k->pcs);
	str_fini(&k->bytes);
}

static const struct part kept_part = { .size = sizeof(struct kept),
	.end = kept_end };

static void
keep_copy(struct kept *k, const struct perf_record *r)
{
	str_clear(&k->bytes);
	str_addn(&k->bytes, r->stack, r->stack_len);
	k->leaves = *r;
	k->leaves.stack = (const uint8_t *)str_c(&k->bytes);
	k->early = true;
}

void
stack_keep(struct state *st, struct thread *th, const struct perf_record *r)
{
	struct kept *k = part_of(&th->parts, &kept_part);
	uint64_t pcs[KEPT_MOST];

	k->time = r->time;
	if (r->source == PERF_LEAVES) {
		keep_copy(k, r);
		return;
	}
	if (k->early) {
		k->early = false;
		return;
	}
	k->leaves.time = 0;
	size_t n = asleep(st, th, r, pcs, KEPT_MOST);
	vec_clear(&k->pcs);
	for (size_t i = 0; i < n; i++)
		*vec_push(&k->pcs) = pcs[i];
}

/* The stack that was kept at this record, or, if the thread gets a processor, at
 * the one before.  0: there is none. */
static size_t
kept(struct thread *th, const struct perf_record *r, uint64_t *pcs, size_t max)
{
	struct kept *k = part_had(&th->parts, &kept_part);

	if (k == NULL || k->time == 0 || (r->out && k->time != r->time))
		return 0;
	if (k->leaves.time != 0)
		return sampled(th, &k->leaves, pcs, max);
	size_t n = MIN(max, k->pcs.len);
	if (n != 0)
		memcpy(pcs, k->pcs.at, n * sizeof(*pcs));
	return n;
}

size_t
stack_seen(struct state *st, struct thread *th, const struct perf_record *r,
    uint64_t *pcs, size_t max)
{
	if (max == 0)
		return 0;
	/* Where it sleeps, it was when it began to. */
	if (r->reckoned) {
		size_t n = r->out ? kept(th, r, pcs, max) : 0;
		return n != 0 ? n : mark("[kernel]", pcs);
	}
	if (r->source != PERF_SWITCHES) {
		size_t n = sampled(th, r, pcs, max);
		return n != 0 ? n : mark("[not seen]", pcs);
	}
	size_t n = kept(th, r, pcs, max);
	if (n == 0)
		n = asleep(st, th, r, pcs, max);
	return n != 0 ? n : mark("[not seen]", pcs);
}
