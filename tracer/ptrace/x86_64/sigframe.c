/*
 * Signal frames on a thread's stack: struct rt_sigframe of the kernel's
 * arch/x86/include/asm/sigframe.h.
 *
 *	address to return to	of code that calls rt_sigreturn
 *	ucontext		its flags, registers, and the mask
 *
 * They are found by that code, which is the same in every C library, because
 * unwinders recognise signal frames by it.
 */
#include <string.h>
#include <ucontext.h>

#include "tracer/ptrace/super.h"

/* The ucontext flags that there are (<asm/ucontext.h>). */
#define UC_FLAGS 7ULL
/* How many bytes of a stack are searched, and how many stacks. */
#define DEPTH  (256U << 10)
#define STACKS 8

/* mov $15,%rax; syscall */
static const uint8_t calls_sigreturn[] = { 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f,
	0x05 };

struct frames {
	struct thread *th;
	uint64_t like, bits;
	bool block;
	uint64_t restorer; /* the last address that was found to be one */
	uint64_t lo, hi;   /* the part of the stack that is searched */
	uint64_t next;     /* stack pointer on another stack, or 0 */
	unsigned mended;   /* masks changed so far */
};

static bool
is_restorer(struct frames *f, uint64_t addr)
{
	uint8_t code[sizeof(calls_sigreturn)];

	if (addr == f->restorer)
		return true;
	if (reader_read(&f->th->proc->space->mem, addr, code, sizeof(code)) <
		0 ||
	    memcmp(code, calls_sigreturn, sizeof(code)) != 0)
		return false;
	f->restorer = addr;
	return true;
}

/* Change the mask of the signal frame whose ucontext is at uc.  If the frame
 * returns to another stack, f->next is set. */
static void
mend(struct frames *f, uint64_t uc)
{
	struct space *sp = f->th->proc->space;
	uint64_t mask, rsp;
	uint64_t mask_at = uc + offsetof(ucontext_t, uc_sigmask);

	if (reader_read(&sp->mem, mask_at, &mask, sizeof(mask)) < 0 ||
	    reader_read(&sp->mem,
		uc + offsetof(ucontext_t, uc_mcontext.gregs[REG_RSP]), &rsp,
		sizeof(rsp)) < 0)
		return;
	if (rsp < f->lo || rsp > f->hi)
		f->next = rsp;
	uint64_t to = f->block ? mask | f->bits : mask & ~f->bits;
	if ((mask & f->like) != f->like || to == mask)
		return;
	f->mended +=
	    sp->target.ops->write(&sp->target, mask_at, &to, sizeof(to)) == 0;
}

static void
look_through(struct frames *f, uint64_t sp)
{
	uint64_t words[512], last = 0, at = sp & ~7ULL;

	/* A thread that executes the restorer has already popped its address:
	 * that is the word below the stack pointer. */
	if (reader_read(&f->th->proc->space->mem, at - sizeof(last), &last,
		sizeof(last)) < 0)
		last = 0;
	f->lo = at;
	f->hi = at + DEPTH;
	f->next = 0;
	for (size_t len; at < f->hi; at += len) {
		len = MIN(sizeof(words), 4096 - at % 4096);
		if (reader_read(&f->th->proc->space->mem, at, words, len) < 0)
			return;
		for (size_t i = 0; i < len / sizeof(*words); i++) {
			/* The word after the restorer's address has the flags
			 * of the ucontext. */
			if (last >= 4096 && (words[i] & ~UC_FLAGS) == 0 &&
			    is_restorer(f, last))
				mend(f, at + i * sizeof(*words));
			last = words[i];
		}
	}
}

unsigned
sigframes_change(struct thread *th, uint64_t like, uint64_t bits, bool block)
{
	struct frames f = {
		.th = th, .like = like, .bits = bits, .block = block
	};
	struct uregs *regs = thread_regs(th);

	if (regs == NULL)
		return 0;
	f.next = regs->r[UREG_RSP];
	for (int i = 0; i < STACKS && f.next != 0; i++)
		look_through(&f, f.next);
	return f.mended;
}

/* After the handler has returned, the ucontext is on top of the stack. */
uint64_t
sigframe_mask(const struct uregs *regs)
{
	return regs->r[UREG_RSP] + offsetof(ucontext_t, uc_sigmask);
}
