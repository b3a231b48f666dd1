/*
 * From the stack of the thread to the stack of the goroutine.
 *
 * Go's run time does some of its work, and calls C, on the stack of the thread
 * ("g0"). No unwind rule leads from there to the goroutine.  These structures
 * do:
 *
 *	fs:-8 (and r14) --> g	0	lowest, highest address of its stack
 *				48	m
 *				56	saved: sp, pc, g itself, ..., 104 bp
 *			    m	0	g0
 *				...	the goroutine that runs on it ("curg")
 *
 * The offsets are those of Go 1.5 to 1.24 (runtime2.go: type g, gobuf, m). Only
 * that of curg differs, so it is searched for.
 *
 * Invariant: a pointer is trusted only if what it points to points back.  The
 * walk changes from one stack to another only at a function that is known to
 * change stacks, and only from g0.
 */
#include <string.h>

#include "dlang/base/base.h"
#include "symbols/unwind/frame.h"

/* The number of words of m in which curg is searched; so far it was about the
 * 24th. */
#define M_WORDS 64

struct gobuf {
	uint64_t sp, pc, g, ctxt, ret, lr, bp;
};

struct g {
	uint64_t lo, hi;
	uint64_t others[4];
	uint64_t m;
	struct gobuf saved;
};

static_assert(offsetof(struct g, m) == 48, "");
static_assert(offsetof(struct g, saved) == 56, "");

/* Functions that change to g0's stack, and what they save: either the top of
 * the stack they left, where their own return address is; or the place in their
 * caller to which they return. */
static const struct {
	const char *name;
	bool returns_there;
} switches[] = {
	{ "runtime.systemstack", false },
	{ "runtime.asmcgocall", false },
	{ "runtime.morestack", true },
	{ "runtime.mcall", true },
};

/* The row of the table for the function at pc; -1 if there is none. */
static int
switch_at(struct unwinder *u, uint64_t pc)
{
	const struct load *l = addrspace_load_at(u->as, pc);
	const struct sym *s;

	if (l == NULL || !l->seen || !object_is_go(l->object))
		return -1;
	s = object_func_at(l->object, pc - l->bias);
	for (size_t i = 0; s != NULL && i < ARRAY_SIZE(switches); i++) {
		size_t len = strlen(switches[i].name);

		if (strncmp(s->name, switches[i].name, len) == 0 &&
		    (s->name[len] == '\0' ||
			strcmp(s->name + len, ".abi0") == 0))
			return (int)i;
	}
	return -1;
}

static bool
g_read(struct unwinder *u, uint64_t addr, struct g *g)
{
	return addr != 0 && (addr & 7) == 0 &&
	    reader_read(u->mem, addr, g, sizeof(*g)) == 0 && g->lo < g->hi;
}

/* Find the goroutine that the thread ran before it changed to g0. */
static bool
curg_find(struct unwinder *u, uint64_t g0_addr, struct g *curg)
{
	uint64_t m[M_WORDS];
	struct g g0;

	if (!g_read(u, g0_addr, &g0) ||
	    reader_read(u->mem, g0.m, m, sizeof(m)) != 0 || m[0] != g0_addr)
		return false;
	for (size_t i = 1; i < M_WORDS; i++) {
		if (m[i] == g0_addr || !g_read(u, m[i], curg))
			continue;
		if (curg->m == g0.m && curg->saved.g == m[i] &&
		    curg->saved.sp > curg->lo && curg->saved.sp < curg->hi)
			return true;
	}
	return false;
}

enum step
unwind_go_step(struct unwinder *u, const struct frame *f, struct frame *caller)
{
	int i = switch_at(u, f->r[CFI_PC] - (f->exact ? 0 : 1));
	uint64_t g0 = 0, pc, sp;
	struct g curg;

	if (i < 0)
		return STEP_FAIL;
	if ((reader_read(
		 u->mem, u->thread + MACHINE_GOROUTINE, &g0, sizeof(g0)) != 0 ||
		!curg_find(u, g0, &curg)) &&
	    !curg_find(u, u->goroutine, &curg))
		return STEP_FAIL;
	/* The thread is on the goroutine's stack: it has not left it yet, or is
	 * back. */
	if (f->r[CFI_SP] >= curg.lo && f->r[CFI_SP] < curg.hi)
		return STEP_FAIL;
	pc = curg.saved.pc;
	sp = curg.saved.sp;
	if (!switches[i].returns_there) {
		if (!unwind_read(u, sp, &pc, sizeof(pc)))
			return STEP_FAIL;
		sp += MACHINE_CALL_BYTES;
	}
	if (pc == 0 || !unwind_is_code(u, pc - 1))
		return STEP_FAIL;
	*caller = (struct frame){ .other_stack = true };
	frame_set(caller, CFI_PC, pc);
	frame_set(caller, CFI_SP, sp);
	frame_set(caller, CFI_FP, curg.saved.bp);
	return STEP_OK;
}
