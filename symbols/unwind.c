/*
 * Stacks from registers and a reader.
 *
 * Each frame is stepped by the first way that can tell: what Go's run time
 * knows of the stack it left; CFI rules of the object it is in; the layout of a
 * signal frame, when its pc is in a signal trampoline without rules; frame
 * pointers and what else convention gives.
 * Memory is read through a window onto the stack, so that a usual stack costs
 * one read.
 *
 * Invariant: the walk ends.  Except out of a signal handler, which may run on
 * a stack of its own, and to a goroutine, the stack pointer rises with every
 * step but the first; and there are at most FRAMES_MOST steps.
 */
#include "symbols/unwind.h"

#include <string.h>
#include <time.h>

#include "dlang/base/base.h"
#include "dlang/base/mem.h"
#include "symbols/unwind_impl.h"

#define FRAMES_MOST 512

#define PAGE        4096ULL

/* Where each DWARF register is in struct uregs. */
static const uint8_t uregs_of[CFI_REGS] = { UREG_RAX, UREG_RDX, UREG_RCX,
	UREG_RBX, UREG_RSI, UREG_RDI, UREG_RBP, UREG_RSP, UREG_R8, UREG_R9,
	UREG_R10, UREG_R11, UREG_R12, UREG_R13, UREG_R14, UREG_R15, UREG_RIP };

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
	addrspace_put(u->as);
	maps_fini(&u->maps);
	mem_free(u);
}

void
unwinder_flush(struct unwinder *u)
{
	/* Rules are kept with the objects, by the file's own addresses: those
	 * are as true as before.  What is known of memory is not. */
	u->window_len = 0;
}

/* Move the window so that it begins at addr (or a little before). */
static bool
window_read(struct unwinder *u, uint64_t addr, size_t need)
{
	const struct map *m = maps_at(addrspace_maps(u->as), addr);
	uint64_t at = addr & ~15ULL;
	size_t len = WINDOW_BYTES;

	u->window_len = 0;
	if (at > UINT64_MAX - WINDOW_BYTES)
		return false;
	if (m != NULL && m->end - at < len)
		len = m->end - at;
	/* The maps may be older than the stack: try less, to the end of the
	 * page, before giving up. */
	if (reader_read(u->mem, at, u->window, len) != 0) {
		len = ROUND_UP(addr + need, PAGE) - at;
		if (len > WINDOW_BYTES ||
		    reader_read(u->mem, at, u->window, len) != 0)
			return false;
	}
	u->window_addr = at;
	u->window_len = len;
	return addr - at + need <= len;
}

bool
unwind_read(struct unwinder *u, uint64_t addr, void *buf, size_t len)
{
	if (addr < u->window_addr || addr - u->window_addr > u->window_len ||
	    u->window_len - (addr - u->window_addr) < len) {
		if (len > PAGE || !window_read(u, addr, len))
			return false;
	}
	memcpy(buf, u->window + (addr - u->window_addr), len);
	return true;
}

bool
unwind_text(struct unwinder *u, uint64_t addr, void *buf, size_t len)
{
	const struct load *l = addrspace_load_at(u->as, addr);

	if (l != NULL && l->seen && !l->writable_text &&
	    object_read(l->object, addr - l->bias, buf, len) == 0)
		return true;
	return reader_read(u->mem, addr, buf, len) == 0;
}

/* How long a look at the maps is good for. */
#define MAPS_NS 50000000ULL

static void
maps_look(struct unwinder *u, uint64_t now)
{
	maps_fini(&u->maps);
	u->maps = (struct maps){ 0 };
	maps_read(addrspace_pid(u->as), &u->maps);
	u->maps_time = now;
	u->maps_new = true;
}

/*
 * The space's own list is as old as the last object that came: code may have
 * been made since where something else was mapped, or nothing.  A look costs
 * much, so there is not one for each address that is no code; and one for each
 * stack at most if the address was in no list.
 */
static bool
is_code_now(struct unwinder *u, uint64_t addr, bool listed)
{
	const struct map *m = maps_at(&u->maps, addr);
	struct timespec ts;
	uint64_t now;
	uint8_t byte;

	if (m != NULL && m->exec)
		return true;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	now = (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
	if (now - u->maps_time > MAPS_NS ||
	    (m == NULL && !listed && !u->maps_new &&
		reader_read(u->mem, addr, &byte, 1) == 0))
		maps_look(u, now);
	m = maps_at(&u->maps, addr);
	return m != NULL && m->exec;
}

bool
unwind_is_code(struct unwinder *u, uint64_t addr)
{
	const struct load *l = addrspace_load_at(u->as, addr);
	const struct map *m;

	if (l != NULL && l->seen && object_is_text(l->object, addr - l->bias))
		return true;
	m = maps_at(addrspace_maps(u->as), addr);
	return (m != NULL && m->exec) || is_code_now(u, addr, m != NULL);
}

bool
unwind_is_made_code(struct unwinder *u, uint64_t addr)
{
	return addrspace_load_at(u->as, addr) == NULL &&
	    unwind_is_code(u, addr);
}

enum step
unwind_known_step(
    struct unwinder *u, const struct frame *f, struct frame *caller)
{
	enum step s = unwind_go_step(u, f, caller);

	if (s == STEP_FAIL)
		s = unwind_cfi_step(u, f, caller);
	if (s == STEP_FAIL)
		s = unwind_sigreturn_step(u, f, caller);
	return s;
}

static enum step
step(struct unwinder *u, const struct unwind_visitor *v, const struct frame *f,
    struct frame *caller)
{
	enum step s = STEP_FAIL;

	if (v->step != NULL)
		s = v->step(v->ctx, f, caller);
	if (s == STEP_FAIL)
		s = unwind_known_step(u, f, caller);
	if (s == STEP_FAIL)
		s = unwind_fp_step(u, f, caller);
	return s;
}

/* Can this be the caller of f? */
static bool
makes_sense(
    struct unwinder *u, const struct frame *f, const struct frame *caller)
{
	uint64_t pc = caller->r[CFI_RIP], sp = caller->r[CFI_RSP];

	/* Out of a signal handler the stack may be another one.  What runs may
	 * have its return address in a register, as vfork() does. */
	if (!caller->exact && !caller->other_stack &&
	    (f->exact ? sp < f->r[CFI_RSP] : sp <= f->r[CFI_RSP]))
		return false;
	if (!frame_knows(caller, CFI_RSP))
		return false;
	/* A signal may have interrupted a call of what is no function. */
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
		frame_set(&f, i, regs->r[uregs_of[i]]);
	u->mem = mem;
	u->fs_base = regs->r[UREG_FS_BASE];
	u->r14 = regs->r[UREG_R14];
	u->window_len = 0;
	u->maps_new = false;
	for (size_t n = 0; more;) {
		/* 0 says where a record's stack ends; the address behind it is
		 * never 0. */
		bool shown = f.r[CFI_RIP] != 0;

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
	uint64_t *at;
	size_t n;
};

static bool
add_pc(void *ctx, const struct frame *f, const struct frame *caller)
{
	struct pcs *p = ctx;

	p->at[p->n++] = f->r[CFI_RIP];
	return true;
}

size_t
unwind(struct unwinder *u, const struct uregs *regs, const struct reader *mem,
    uint64_t *pcs, size_t max)
{
	struct pcs p = { .at = pcs };
	const struct unwind_visitor v = {
		.ctx = &p, .frame = add_pc, .most = max
	};

	if (max != 0)
		unwind_visit(u, regs, mem, &v);
	return p.n;
}
