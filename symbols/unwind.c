/*
 * Stacks from registers and a reader.
 *
 * Each frame is stepped by the first way that can tell: CFI rules of the
 * object it is in; the layout of a signal frame, when its pc is in a signal
 * trampoline without rules; frame pointers and what else convention gives.
 * Memory is read through a window onto the stack, so that a usual stack costs
 * one read.
 *
 * Invariant: the walk ends.  Except out of a signal handler, which may run on
 * a stack of its own, the stack pointer rises with every step; and there are
 * at most FRAMES_MOST steps.
 */
#include "symbols/unwind.h"

#include <string.h>

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

bool
unwind_is_code(struct unwinder *u, uint64_t addr)
{
	const struct load *l = addrspace_load_at(u->as, addr);
	const struct map *m;
	uint8_t byte;

	if (l != NULL && l->seen && object_is_text(l->object, addr - l->bias))
		return true;
	m = maps_at(addrspace_maps(u->as), addr);
	if (m != NULL)
		return m->exec;
	/* Mapped since: code made at run time, or nothing at all. */
	return reader_read(u->mem, addr, &byte, 1) == 0;
}

static enum step
step(struct unwinder *u, const struct frame *f, struct frame *caller)
{
	enum step s = unwind_cfi_step(u, f, caller);

	if (s == STEP_FAIL)
		s = unwind_sigreturn_step(u, f, caller);
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

	/* Out of a signal handler the stack may be another one. */
	if (!caller->exact && sp <= f->r[CFI_RSP])
		return false;
	if (pc == 0 || !frame_knows(caller, CFI_RSP))
		return false;
	return unwind_is_code(u, caller->exact ? pc : pc - 1);
}

size_t
unwind(struct unwinder *u, const struct uregs *regs, const struct reader *mem,
    uint64_t *pcs, size_t max)
{
	struct frame f = { .exact = true }, caller;
	size_t n = 0;

	for (unsigned i = 0; i < CFI_REGS; i++)
		frame_set(&f, i, regs->r[uregs_of[i]]);
	u->mem = mem;
	u->window_len = 0;
	max = MIN(max, FRAMES_MOST);
	while (n < max) {
		pcs[n++] = f.r[CFI_RIP];
		if (n == max || step(u, &f, &caller) != STEP_OK ||
		    !makes_sense(u, &f, &caller))
			break;
		f = caller;
	}
	u->mem = NULL;
	return n;
}
