/*
 * Walks a stack, given registers and a reader of memory.
 *
 * The caller of each frame is found by the first of these ways that can tell
 * it: what Go's run time knows of the stack it left; the unwind entries of the
 * object, by our rules or by libunwind (unwind_choose()); the layout of a
 * signal frame, if the pc is in a signal trampoline without an entry; frame
 * pointers and other conventions.
 *
 * Invariant: the walk ends.  The stack pointer rises with every step except the
 * first, except when a signal handler is left, which may run on a stack of its
 * own, and when the walk changes to a goroutine's stack.  There are at most
 * FRAMES_MOST steps.
 */
#include "symbols/unwind.h"

#include <inttypes.h>
#include <stdio.h>

#include "dlang/base/base.h"
#include "dlang/base/log.h"
#include "dlang/base/mem.h"
#include "symbols/unwind/frame.h"

#define FRAMES_MOST 512

struct unwinder *
unwinder_create(struct addrspace *as)
{
	struct unwinder *u = mem_zalloc(sizeof(*u));

	u->as = addrspace_get(as);
	return u;
}

void
unwinder_destroy(struct unwinder *u)
{
	if (u == NULL)
		return;
	if (u->compared > 0)
		LOG("unwind", "%" PRIu64 " callers by both, %" PRIu64 " differ",
		    u->compared, u->differ);
	addrspace_put(u->as);
	maps_fini(&u->maps);
	unwind_libunwind_destroy(u);
	mem_free(u);
}

void
unwinder_flush(struct unwinder *u)
{
	/* Rules are kept with the objects, by file addresses, and stay valid.
	 * What was read from memory does not. */
	u->window_len = 0;
	unwind_libunwind_flush(u);
}

/* ---- the door ---- */

static struct {
	enum unwinder_kind kind;
	void (*differ)(void *ctx, const char *text);
	void *ctx;
} choice;

void
unwind_choose(enum unwinder_kind kind,
    void (*differ)(void *ctx, const char *text), void *ctx)
{
	choice.kind = kind;
	choice.differ = differ;
	choice.ctx = ctx;
}

static enum step
rules_step(struct unwinder *u, const struct frame *f, struct frame *caller)
{
	enum step s = unwind_cfi_step(u, f, caller);

	return s == STEP_FAIL ? unwind_sigreturn_step(u, f, caller) : s;
}

static const char *
step_text(enum step s, const struct frame *caller, char *buf, size_t size)
{
	if (s == STEP_OK)
		snprintf(buf, size, "%#" PRIx64 " at %#" PRIx64,
		    caller->r[CFI_PC], caller->r[CFI_SP]);
	else
		snprintf(buf, size, s == STEP_END ? "the end" : "nothing");
	return buf;
}

/* A caller at address 0 by our rules may be the end of the stack for
 * libunwind. */
static bool
same_caller(
    enum step s, const struct frame *a, enum step t, const struct frame *b)
{
	if (s == STEP_OK && t == STEP_END)
		return a->r[CFI_PC] == 0;
	return s == t &&
	    (s != STEP_OK ||
		(a->r[CFI_PC] == b->r[CFI_PC] && a->r[CFI_SP] == b->r[CFI_SP]));
}

/* The step by the rules.  If libunwind has found the unwind entry, compare its
 * result with that. */
static enum step
check_step(struct unwinder *u, const struct frame *f, struct frame *caller)
{
	struct frame other;
	bool told;
	enum step t = unwind_libunwind_step(u, f, &other, &told);
	enum step s = rules_step(u, f, caller);

	u->compared += told;
	if (told && !same_caller(s, caller, t, &other)) {
		char text[256], ours[48], theirs[48];

		snprintf(text, sizeof(text),
		    "unwinder=check: the caller of %#" PRIx64 " at %#" PRIx64
		    " is %s by the rules, %s by libunwind",
		    f->r[CFI_PC], f->r[CFI_SP],
		    step_text(s, caller, ours, sizeof(ours)),
		    step_text(t, &other, theirs, sizeof(theirs)));
		u->differ++;
		choice.differ(choice.ctx, text);
	}
	return s;
}

enum step
unwind_step(struct unwinder *u, const struct frame *f, struct frame *caller)
{
	enum step s = unwind_go_step(u, f, caller);
	bool told;

	/* Unwind entries do not describe the change between Go's stacks. */
	if (s != STEP_FAIL)
		return s;
	switch (choice.kind) {
	case UNWINDER_CHECK: return check_step(u, f, caller);
	case UNWINDER_LIBUNWIND:
		s = unwind_libunwind_step(u, f, caller, &told);
		return s == STEP_OK ? s : rules_step(u, f, caller);
	case UNWINDER_RULES: break;
	}
	s = rules_step(u, f, caller);
	return s == STEP_FAIL ? unwind_libunwind_step(u, f, caller, &told) : s;
}

/* ---- the walk ---- */

static enum step
step(struct unwinder *u, const struct unwind_visitor *v, const struct frame *f,
    struct frame *caller)
{
	enum step s = STEP_FAIL;

	if (v->step != NULL)
		s = v->step(v->ctx, f, caller);
	if (s == STEP_FAIL)
		s = unwind_step(u, f, caller);
	if (s == STEP_FAIL)
		s = unwind_fp_step(u, f, caller);
	return s;
}

/* Can this be the caller of f? */
static bool
makes_sense(
    struct unwinder *u, const struct frame *f, const struct frame *caller)
{
	uint64_t pc = caller->r[CFI_PC], sp = caller->r[CFI_SP];

	/* The caller of a signal handler may have another stack.  A function
	 * may be called with the return address in a register, as vfork() is,
	 * so the first step may leave the stack pointer as it is. */
	if (!caller->exact && !caller->other_stack &&
	    (f->exact ? sp < f->r[CFI_SP] : sp <= f->r[CFI_SP]))
		return false;
	if (!frame_knows(caller, CFI_SP))
		return false;
	/* A signal may have interrupted a call through a bad function pointer,
	 * so the pc of an exact frame need not be in code. */
	return caller->exact || caller->sure ||
	    (pc != 0 && unwind_is_code(u, pc - 1));
}

void
unwind_visit(struct unwinder *u, const struct uregs *regs,
    const struct reader *mem, const struct unwind_visitor *v)
{
	struct frame f = { .exact = true }, caller;
	size_t most = v->most != 0 ? MIN(v->most, FRAMES_MOST) : FRAMES_MOST;
	bool more = true;

	for (unsigned i = 0; i < CFI_REGS; i++)
		if (v->known == 0 || (v->known & 1u << i) != 0)
			frame_set(&f, i, regs->r[machine_uregs[i]]);
	u->mem = mem;
	u->thread = regs->r[UREG_THREAD];
	u->goroutine = f.r[CFI_GOROUTINE];
	u->window_len = 0;
	u->maps_new = false;
	unwind_libunwind_begin(u);
	for (size_t n = 0; more;) {
		/* An address of 0 ends the stack in a record, so such a frame
		 * is not shown.  Other frames' addresses are never 0. */
		bool shown = f.r[CFI_PC] != 0;

		n += shown;
		more = n < most && step(u, v, &f, &caller) == STEP_OK &&
		    makes_sense(u, &f, &caller);
		if (shown)
			more =
			    v->frame(v->ctx, &f, more ? &caller : NULL) && more;
		if (more)
			f = caller;
	}
	u->mem = NULL;
}

struct pcs {
	struct unwinder *u;
	uint64_t *at;
	size_t n;
	bool whole; /* the outermost frame was reached */
	bool cut;   /* a frame pointer was not found */
};

static bool
add_pc(void *ctx, const struct frame *f, const struct frame *caller)
{
	struct pcs *p = ctx;

	p->at[p->n++] = f->r[CFI_PC];
	return true;
}

/* Walk from regs, up to max frames; `next' as in struct unwind_visitor. */
static void
add_pcs(struct pcs *p,
    enum step (*next)(void *ctx, const struct frame *f, struct frame *caller),
    const struct uregs *regs, const struct reader *mem, size_t max)
{
	const struct unwind_visitor v = {
		.ctx = p, .step = next, .frame = add_pc, .most = max
	};

	if (max != 0)
		unwind_visit(p->u, regs, mem, &v);
}

size_t
unwind(struct unwinder *u, const struct uregs *regs, const struct reader *mem,
    uint64_t *pcs, size_t max)
{
	struct pcs p = { .u = u, .at = pcs };

	add_pcs(&p, NULL, regs, mem, max);
	return p.n;
}

/* As unwind_step(), but the walk ends if that fails: no convention is tried. */
static enum step
step_surely(void *ctx, const struct frame *f, struct frame *caller)
{
	struct pcs *p = ctx;
	enum step s = unwind_step(p->u, f, caller);

	p->whole = s == STEP_END;
	return s == STEP_OK ? s : STEP_END;
}

size_t
unwind_whole(struct unwinder *u, const struct uregs *regs,
    const struct reader *mem, uint64_t *pcs, size_t max)
{
	struct pcs p = { .u = u, .at = pcs };

	add_pcs(&p, step_surely, regs, mem, max);
	return p.whole ? p.n : 0;
}

static enum step
step_tell(void *ctx, const struct frame *f, struct frame *caller)
{
	struct pcs *p = ctx;
	enum step s = unwind_step(p->u, f, caller);

	p->whole = s == STEP_END;
	return s;
}

size_t
unwind_tell(struct unwinder *u, const struct uregs *regs,
    const struct reader *mem, uint64_t *pcs, size_t max, bool *whole)
{
	struct pcs p = { .u = u, .at = pcs };

	add_pcs(&p, step_tell, regs, mem, max);
	*whole = p.whole;
	return p.n;
}

static enum step
step_asleep(void *ctx, const struct frame *f, struct frame *caller)
{
	struct pcs *p = ctx;
	enum step s = unwind_step(p->u, f, caller);

	if (s == STEP_FAIL)
		s = unwind_search_step(p->u, f, caller);
	if (s == STEP_FAIL)
		s = unwind_fp_step(p->u, f, caller);
	p->cut = s == STEP_FAIL && !frame_knows(f, CFI_FP);
	return s == STEP_FAIL ? STEP_END : s;
}

size_t
unwind_asleep(struct unwinder *u, uint64_t pc, uint64_t sp,
    const struct reader *mem, uint64_t *pcs, size_t max, bool *cut)
{
	struct uregs regs = { 0 };
	struct pcs p = { .u = u, .at = pcs };
	const struct unwind_visitor v = {
		.ctx = &p,
		.step = step_asleep,
		.frame = add_pc,
		.known = 1u << CFI_PC | 1u << CFI_SP,
		.most = max,
	};

	regs.r[UREG_PC] = pc;
	regs.r[UREG_SP] = sp;
	if (max != 0)
		unwind_visit(u, &regs, mem, &v);
	*cut = p.cut;
	return p.n;
}
