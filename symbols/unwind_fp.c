/*
 * Steps by convention, where no rules exist: assembly, code made at run time,
 * programs built without unwind entries.
 *
 *	      | return address |   the caller's rsp ends here
 *	rbp-> | caller's rbp   |
 *
 * Invariant: a step is taken only to an address that a call instruction
 * precedes, or into code made at run time; a guess that cannot be shown to be
 * a return address is not made.
 */
#include <string.h>

#include "dlang/base/base.h"
#include "symbols/unwind_impl.h"

/* What a signal handler returns to: mov $15,%rax (or %eax); syscall. */
static const uint8_t sigreturn_rax[] = { 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f,
	0x05 };
static const uint8_t sigreturn_eax[] = { 0xb8, 15, 0, 0, 0, 0x0f, 0x05 };

/* struct rt_sigframe as rsp points to it there: ucontext first, whose
 * registers begin behind flags, link and the alternate stack. */
#define SIGFRAME_REGS 40

/* The order of the registers in it (asm/sigcontext.h). */
static const uint8_t sigframe_order[] = { CFI_R8, 9, 10, 11, 12, 13, 14,
	CFI_R15, CFI_RDI, CFI_RSI, CFI_RBP, CFI_RBX, CFI_RDX, CFI_RAX, CFI_RCX,
	CFI_RSP, CFI_RIP };

enum step
unwind_sigreturn_step(
    struct unwinder *u, const struct frame *f, struct frame *caller)
{
	uint64_t regs[ARRAY_SIZE(sigframe_order)];
	uint8_t code[sizeof(sigreturn_rax)] = { 0 };

	if (!unwind_text(u, f->r[CFI_RIP], code, sizeof(code)) ||
	    (memcmp(code, sigreturn_rax, sizeof(sigreturn_rax)) != 0 &&
		memcmp(code, sigreturn_eax, sizeof(sigreturn_eax)) != 0))
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

/* Code that was made at run time.  Interpreters among it push the addresses
 * to which they want to come back, and call nothing. */
static bool
is_made_code(struct unwinder *u, uint64_t pc)
{
	const struct map *m = maps_at(addrspace_maps(u->as), pc);

	return m != NULL && m->exec && addrspace_load_at(u->as, pc) == NULL;
}

/* The caller, if the return address is at `at'. */
static bool
return_at(struct unwinder *u, const struct frame *f, uint64_t at,
    uint64_t target, struct frame *caller)
{
	/* What a function leaves as it was (System V ABI). */
	static const uint8_t kept[] = { CFI_RBX, CFI_RBP, 12, 13, 14, 15 };
	uint64_t pc;

	if (!unwind_read(u, at, &pc, sizeof(pc)))
		return false;
	if (!is_after_call(u, pc, target) &&
	    !(target == 0 && is_made_code(u, pc)))
		return false;
	*caller = (struct frame){ 0 };
	for (size_t i = 0; i < sizeof(kept); i++)
		if (frame_knows(f, kept[i]))
			frame_set(caller, kept[i], f->r[kept[i]]);
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

enum step
unwind_fp_step(struct unwinder *u, const struct frame *f, struct frame *caller)
{
	uint64_t pc = f->r[CFI_RIP], sp = f->r[CFI_RSP];
	const struct load *l = addrspace_load_at(u->as, pc);
	const struct sym *s = NULL;
	uint64_t start;

	if (!f->exact)
		return rbp_step(u, f, caller) ? STEP_OK : STEP_FAIL;
	/* A call to where no code is got as far as pushing. */
	if (!unwind_is_code(u, pc))
		return return_at(u, f, sp, 0, caller) ? STEP_OK : STEP_FAIL;
	/* Not called, but about to run: the return address may still be on
	 * top.  It is at a function's first instruction; and where the top
	 * of the stack points behind a call of this very function. */
	if (l != NULL)
		s = object_func_at(l->object, pc - l->bias);
	start = s != NULL ? l->bias + s->addr : 0;
	if (start == pc && return_at(u, f, sp, 0, caller))
		return STEP_OK;
	if (start != 0 && return_at(u, f, sp, start, caller))
		return STEP_OK;
	/* Or below one register, when the prologue has pushed that but has
	 * not yet made it the frame pointer. */
	if (start != 0 && f->r[CFI_RBP] != sp &&
	    return_at(u, f, sp + 8, start, caller))
		return STEP_OK;
	if (rbp_step(u, f, caller))
		return STEP_OK;
	return return_at(u, f, sp, 0, caller) ? STEP_OK : STEP_FAIL;
}
