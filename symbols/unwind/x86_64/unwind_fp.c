/*
 * Steps by convention, if there are no unwind rules: assembly, code created at
 * run time, programs built without unwind entries.
 *
 *	      | return address |   the caller's rsp ends here
 *	rbp-> | caller's rbp   |
 *
 * Invariant: a step leads only to an address that follows a call instruction,
 * to a signal trampoline, to a function whose address was pushed as a return
 * address, or into code created at run time.  A value that cannot be shown to
 * be a return address is not used.
 */
#include <string.h>

#include "dlang/base/base.h"
#include "symbols/unwind/frame.h"

/* struct rt_sigframe, to which rsp points there: first the ucontext, whose
 * registers follow flags, link and the alternate stack. */
#define SIGFRAME_REGS 40

/* The number of bytes that are read of the beginning of a function: enough for
 * six pushes and a subtraction. */
#define PROLOGUE_BYTES 24
/* The number of bytes that are read at its end: enough for an addition, six
 * pops and a return. */
#define EPILOGUE_BYTES 20

/* The order of the registers in the ucontext (asm/sigcontext.h). */
static const uint8_t sigframe_order[] = { CFI_R8, 9, 10, 11, 12, 13, 14,
	CFI_R15, CFI_RDI, CFI_RSI, CFI_RBP, CFI_RBX, CFI_RDX, CFI_RAX, CFI_RCX,
	CFI_RSP, CFI_RIP };

/* Is pc a signal trampoline?  A signal handler returns there, though no call
 * precedes it. */
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
	/* After FF: a ModRM byte, then an optional SIB byte and displacement.
	 * Lengths of all forms. */
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

/* Was the address of a function pushed as a return address?  Then pc is the
 * first address of an unwind entry. */
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

/* Use the chain of frame pointers. */
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

/* Does the function set up a frame pointer?  Then mov %rsp,%rbp is among its
 * first instructions, in one of two encodings. */
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

/* The order in which push and pop number registers. */
static const uint8_t push_order[] = { CFI_RAX, CFI_RCX, CFI_RDX, CFI_RBX,
	CFI_RSP, CFI_RBP, CFI_RSI, CFI_RDI };

/* The register of a push (op 0x50) or pop (op 0x58), and the length of the
 * instruction; 0 if it is another one. */
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

/* The length of sub (op 0xec) or add (op 0xc4) $n,%rsp, and n; 0 if it is
 * another instruction. */
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

/* Is it a ret, with or without a prefix? */
static bool
is_return(const uint8_t *p)
{
	return *p == 0xc3 || ((*p == 0xf2 || *p == 0xf3) && p[1] == 0xc3);
}

/* If only pops and additions to the stack pointer precede a return, its return
 * address is that of the caller. */
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

/* The stack of a function, by its first instructions. */
struct prologue {
	uint64_t depth;           /* bytes below the return address */
	uint64_t saved[CFI_REGS]; /* the depth at which a register was pushed;
				   * 0: it was not */
};

/* Read pushes and subtractions from the stack pointer, up to the first other
 * instruction (endbr64 is skipped) or up to `len', where the thread is. */
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

/* Find the caller by the first instructions of a function without a frame
 * pointer.  Only if the call before the return address is a direct call of this
 * function: otherwise the frame may be a different one, with old data at that
 * place. */
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

/* The frame is about to run an instruction: the return address may still be on
 * top of the stack. */
static bool
prologue_step(struct unwinder *u, const struct frame *f, uint64_t start,
    struct frame *caller)
{
	uint64_t pc = f->r[CFI_RIP], sp = f->r[CFI_RSP];

	/* A call to an invalid address has only pushed the return address, and
	 * so has one whose function has not begun. */
	if ((start == pc || !unwind_is_code(u, pc)) &&
	    return_at(u, f, sp, 0, caller))
		return true;
	if (start == 0)
		return false;
	if (return_at(u, f, sp, start, caller))
		return true;
	/* Or it is below one register: the prologue has pushed the frame
	 * pointer but not yet set it. */
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

/* ---- frame pointers that are not known ---- */

/* How much of a stack is searched: the local variables of one function. */
#define SEARCH_BYTES 65536

/* A stack with more frames is not looked at up to its end. */
#define WHOLE_MOST 256

/* Is everything above the frame as it should be, up to the first one? */
static bool
is_whole(struct unwinder *u, const struct frame *f)
{
	struct frame at = *f, caller;

	for (unsigned i = 0; i < WHOLE_MOST; i++) {
		enum step s = unwind_step(u, &at, &caller);
		if (s != STEP_OK)
			return s == STEP_END;
		if (caller.r[CFI_RSP] <= at.r[CFI_RSP])
			return false;
		at = caller;
	}
	return false;
}

/*
 * A function that has a frame pointer has pushed that of its caller right below the
 * return address, at a multiple of 16 (the ABI of x86-64).  Below that place are
 * local variables, which may hold what earlier calls have left there, of other
 * functions.  So the first place counts behind a direct call of this function.  If
 * there is none, it was called by a pointer or through a linkage table: then the
 * first place behind a call counts from which all frames can be found.
 */
static bool
search(struct unwinder *u, const struct frame *f, uint64_t start, bool directly,
    struct frame *caller)
{
	uint64_t sp = f->r[CFI_RSP];
	uint64_t record[2]; /* the caller's frame pointer, the return address */

	for (uint64_t at = (sp + 15) & ~UINT64_C(15); at - sp < SEARCH_BYTES;
	     at += 16) {
		struct frame g = *f;
		if (!unwind_read(u, at, record, sizeof(record)))
			return false;
		if (!is_after_call(u, record[1], directly ? start : 0))
			continue;
		frame_set(&g, CFI_RBP, at);
		if (unwind_step(u, &g, caller) == STEP_OK ?
			caller->r[CFI_RIP] == record[1] :
			rbp_step(u, &g, caller))
			if (directly || is_whole(u, caller))
				return true;
	}
	return false;
}

enum step
unwind_search_step(
    struct unwinder *u, const struct frame *f, struct frame *caller)
{
	uint64_t pc = f->r[CFI_RIP] - (f->exact ? 0 : 1);
	const struct load *l = addrspace_load_at(u->as, pc);
	const struct sym *s =
	    l != NULL ? object_func_at(l->object, pc - l->bias) : NULL;

	if (s == NULL || frame_knows(f, CFI_RBP))
		return STEP_FAIL;
	return search(u, f, l->bias + s->addr, true, caller) ||
		search(u, f, 0, false, caller) ?
	    STEP_OK :
	    STEP_FAIL;
}
