/*
 * Steps by convention, where no rules exist: assembly, code made at run time,
 * programs built without unwind entries.
 *
 *	      | return address |   the caller's rsp ends here
 *	rbp-> | caller's rbp   |
 *
 * Invariant: a step is taken only to an address that a call instruction
 * precedes, to a signal trampoline or a function that was pushed, or into code
 * made at run time; a guess that cannot be shown to be a return address is not
 * made.
 */
#include <string.h>

#include "dlang/base/base.h"
#include "symbols/unwind/frame.h"

/* struct rt_sigframe as rsp points to it there: ucontext first, whose
 * registers begin behind flags, link and the alternate stack. */
#define SIGFRAME_REGS 40

/* As much of a function's beginning is read: six pushes and a subtraction. */
#define PROLOGUE_BYTES 24
/* And of its end: an addition, six pops, a return. */
#define EPILOGUE_BYTES 20

/* The order of the registers in it (asm/sigcontext.h). */
static const uint8_t sigframe_order[] = { CFI_R8, 9, 10, 11, 12, 13, 14,
	CFI_R15, CFI_RDI, CFI_RSI, CFI_RBP, CFI_RBX, CFI_RDX, CFI_RAX, CFI_RCX,
	CFI_RSP, CFI_RIP };

/* A signal handler returns to where nothing was called from. */
static bool
is_sigreturn(struct unwinder *u, uint64_t pc)
{
	uint8_t code[MACHINE_SIGRETURN];

	return unwind_is_code(u, pc) &&
	    unwind_text(u, pc, code, sizeof(code)) &&
	    machine_is_sigreturn(code);
}

enum step
unwind_sigreturn_step(
    struct unwinder *u, const struct frame *f, struct frame *caller)
{
	uint64_t regs[ARRAY_SIZE(sigframe_order)];

	if (!is_sigreturn(u, f->r[CFI_RIP]))
		return STEP_FAIL;
	if (!unwind_read(u, f->r[CFI_RSP] + SIGFRAME_REGS, regs, sizeof(regs)))
		return STEP_FAIL;
	*caller = (struct frame){ .exact = true };
	for (size_t i = 0; i < ARRAY_SIZE(regs); i++)
		frame_set(caller, sigframe_order[i], regs[i]);
	return STEP_OK;
}

/*
 * Does a call instruction end at addr?  With `target', is it a direct call of
 * that address?  Forms: E8 rel32; FF /2 with a register, or memory with all
 * displacements, each of which may have a prefix.
 */
static bool
is_after_call(struct unwinder *u, uint64_t addr, uint64_t target)
{
	/* Behind FF: mod-rm, then a SIB byte and a displacement. */
	static const uint8_t forms[] = { 2, 3, 4, 6, 7 };
	uint8_t b[8];
	int32_t rel;

	if (addr < sizeof(b) || !unwind_is_code(u, addr - 1) ||
	    !unwind_text(u, addr - sizeof(b), b, sizeof(b)))
		return false;
	if (b[3] == 0xe8) {
		memcpy(&rel, b + 4, sizeof(rel));
		if (target == 0 || addr + (uint64_t)(int64_t)rel == target)
			return true;
	}
	if (target != 0)
		return false;
	for (size_t i = 0; i < sizeof(forms); i++) {
		const uint8_t *p = b + sizeof(b) - forms[i];
		unsigned mod = p[1] >> 6, rm = p[1] & 7;
		size_t len = 2;

		if (p[0] != 0xff || ((p[1] >> 3) & 7) != 2)
			continue;
		if (mod != 3 && rm == 4) {
			len++;
			if (mod == 0 && (p[2] & 7) == 5)
				len += 4;
		}
		if (mod == 1)
			len++;
		else if (mod == 2 || (mod == 0 && rm == 5))
			len += 4;
		if (len == forms[i])
			return true;
	}
	return false;
}

bool
unwind_is_after_call(struct unwinder *u, uint64_t addr)
{
	return is_after_call(u, addr, 0);
}

/* A function that was pushed for another to return to: rules begin with it. */
static bool
is_pushed(struct unwinder *u, uint64_t pc)
{
	const struct load *l = addrspace_load_at(u->as, pc);

	return l != NULL && l->seen &&
	    cfi_row(l->object, pc - 1 - l->bias) == NULL &&
	    cfi_row(l->object, pc - l->bias) != NULL;
}

/* The caller, if the return address is at `at'. */
static bool
return_at(struct unwinder *u, const struct frame *f, uint64_t at,
    uint64_t target, struct frame *caller)
{
	uint64_t pc;

	if (!unwind_read(u, at, &pc, sizeof(pc)))
		return false;
	if (!is_after_call(u, pc, target) &&
	    !(target == 0 &&
		(unwind_is_made_code(u, pc) || is_sigreturn(u, pc) ||
		    is_pushed(u, pc))))
		return false;
	*caller = (struct frame){ 0 };
	for (unsigned i = 0; i < CFI_REGS; i++)
		if ((machine_kept & 1u << i) && frame_knows(f, i))
			frame_set(caller, i, f->r[i]);
	frame_set(caller, CFI_RSP, at + 8);
	frame_set(caller, CFI_RIP, pc);
	return true;
}

/* By the chain of frame pointers. */
static bool
rbp_step(struct unwinder *u, const struct frame *f, struct frame *caller)
{
	uint64_t rbp, fp = f->r[CFI_RBP];

	if (!frame_knows(f, CFI_RBP) || fp < f->r[CFI_RSP] || (fp & 7) != 0 ||
	    !unwind_read(u, fp, &rbp, sizeof(rbp)) ||
	    !return_at(u, f, fp + 8, 0, caller))
		return false;
	frame_set(caller, CFI_RBP, rbp);
	return true;
}

/* Does the function make the frame pointer its own?  mov %rsp,%rbp is among its
 * first instructions then, in one of two encodings. */
static bool
has_frame_pointer(const uint8_t *begin)
{
	for (size_t i = 0; i + 3 <= PROLOGUE_BYTES; i++)
		if (begin[i] == 0x48 &&
		    ((begin[i + 1] == 0x89 && begin[i + 2] == 0xe5) ||
			(begin[i + 1] == 0x8b && begin[i + 2] == 0xec)))
			return true;
	return false;
}

/* The registers as push and pop count them. */
static const uint8_t push_order[] = { CFI_RAX, CFI_RCX, CFI_RDX, CFI_RBX,
	CFI_RSP, CFI_RBP, CFI_RSI, CFI_RDI };

/* The register that the instruction (0x50 for pushes, 0x58 for pops) is of, and
 * its length; or 0. */
static size_t
push_length(const uint8_t *p, uint8_t op, unsigned *reg)
{
	if ((p[0] & 0xf8) == op) {
		*reg = push_order[p[0] & 7];
		return 1;
	}
	if (p[0] == 0x41 && (p[1] & 0xf8) == op) {
		*reg = 8 + (p[1] & 7u);
		return 2;
	}
	return 0;
}

/* The length of sub (0xec) or add (0xc4) $n,%rsp, and n; or 0. */
static size_t
move_length(const uint8_t *p, uint8_t op, uint64_t *n)
{
	int32_t wide;

	if (p[0] != 0x48 || (p[1] != 0x83 && p[1] != 0x81) || p[2] != op)
		return 0;
	if (p[1] == 0x83) {
		*n = (uint64_t)(int8_t)p[3];
		return 4;
	}
	memcpy(&wide, p + 3, sizeof(wide));
	*n = (uint64_t)wide;
	return 7;
}

/* ret, with a prefix or without. */
static bool
is_return(const uint8_t *p)
{
	return *p == 0xc3 || ((*p == 0xf2 || *p == 0xf3) && p[1] == 0xc3);
}

/* Nothing but pops and additions to the stack pointer, and then a return: what
 * that will return to is the caller. */
static bool
epilogue_step(struct unwinder *u, const struct frame *f, struct frame *caller)
{
	uint8_t code[EPILOGUE_BYTES + 7] = { 0 };
	uint64_t at = f->r[CFI_RSP], n, value[CFI_REGS];
	uint32_t popped = 0;
	unsigned reg;

	if (!unwind_text(u, f->r[CFI_RIP], code, EPILOGUE_BYTES))
		return false;
	for (size_t i = 0, len; !is_return(code + i); i += len) {
		const uint8_t *p = code + i;

		if (i >= EPILOGUE_BYTES)
			return false;
		if ((len = push_length(p, 0x58, &reg)) != 0) {
			if (reg == CFI_RSP ||
			    !unwind_read(u, at, &value[reg], 8))
				return false;
			popped |= 1u << reg;
			at += 8;
		} else if ((len = move_length(p, 0xc4, &n)) != 0) {
			at += n;
		} else {
			return false;
		}
	}
	if (!return_at(u, f, at, 0, caller))
		return false;
	for (reg = 0; reg < CFI_RIP; reg++)
		if (popped & (1u << reg))
			frame_set(caller, reg, value[reg]);
	return true;
}

/* Where the stack pointer of a function has come to, by how it begins. */
struct prologue {
	uint64_t depth;           /* bytes below the return address */
	uint64_t saved[CFI_REGS]; /* the depth at which a register is, or 0 */
};

/* The first instruction that is no endbr64, push or subtraction from the stack
 * pointer ends the reading; so does `len', which is how far the thread came. */
static void
prologue_read(const uint8_t *begin, size_t len, struct prologue *out)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	size_t i = memcmp(begin, endbr64, sizeof(endbr64)) == 0 ? 4 : 0, n;
	uint64_t room;
	unsigned reg;

	*out = (struct prologue){ 0 };
	for (; i < len; i += n) {
		if ((n = push_length(begin + i, 0x50, &reg)) != 0)
			out->saved[reg] = out->depth += 8;
		else if ((n = move_length(begin + i, 0xec, &room)) != 0)
			out->depth += room;
		else
			return;
	}
}

/* By how the function begins, if it has no frame pointer.  Only what was called
 * by its name is believed to have a frame like that: it may have another, and
 * what lies there be of a call long ago. */
static bool
begin_step(struct unwinder *u, const struct frame *f, uint64_t start,
    uint64_t pc, struct frame *caller)
{
	uint8_t begin[PROLOGUE_BYTES + 7] = { 0 };
	uint64_t sp = f->r[CFI_RSP], v;
	struct prologue p;

	if (!unwind_text(u, start, begin, PROLOGUE_BYTES) ||
	    has_frame_pointer(begin))
		return false;
	prologue_read(begin, MIN(pc - start, PROLOGUE_BYTES), &p);
	if (!return_at(u, f, sp + p.depth, start, caller))
		return false;
	for (unsigned i = 0; i < CFI_RIP; i++)
		if (p.saved[i] != 0 && i != CFI_RSP &&
		    unwind_read(u, sp + p.depth - p.saved[i], &v, sizeof(v)))
			frame_set(caller, i, v);
	return true;
}

/* In a frame that is about to run: the return address may be on top still. */
static bool
prologue_step(struct unwinder *u, const struct frame *f, uint64_t start,
    struct frame *caller)
{
	uint64_t pc = f->r[CFI_RIP], sp = f->r[CFI_RSP];

	/* A call to where no code is got as far as pushing; so did one whose
	 * function has not begun. */
	if ((start == pc || !unwind_is_code(u, pc)) &&
	    return_at(u, f, sp, 0, caller))
		return true;
	if (start == 0)
		return false;
	if (return_at(u, f, sp, start, caller))
		return true;
	/* Or below one register, when the prologue has pushed that but has
	 * not yet made it the frame pointer. */
	return f->r[CFI_RBP] != sp && return_at(u, f, sp + 8, start, caller);
}

enum step
unwind_fp_step(struct unwinder *u, const struct frame *f, struct frame *caller)
{
	uint64_t pc = f->r[CFI_RIP] - (f->exact ? 0 : 1), start;
	const struct load *l = addrspace_load_at(u->as, pc);
	const struct sym *s =
	    l != NULL ? object_func_at(l->object, pc - l->bias) : NULL;

	start = s != NULL ? l->bias + s->addr : 0;
	if (f->exact && prologue_step(u, f, start, caller))
		return STEP_OK;
	if (f->exact && !unwind_is_code(u, pc))
		return STEP_FAIL;
	if (f->exact && epilogue_step(u, f, caller))
		return STEP_OK;
	if (start != 0 && begin_step(u, f, start, pc, caller))
		return STEP_OK;
	if (rbp_step(u, f, caller))
		return STEP_OK;
	return f->exact && return_at(u, f, f->r[CFI_RSP], 0, caller) ?
	    STEP_OK :
	    STEP_FAIL;
}
