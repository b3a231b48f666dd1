/*
 * From a thread stopped at a tracepoint to the registers that continue it, and
 * out of a slot when a signal or a detach finds a thread there.
 */
#ifndef INJECT_RESUME_H
#define INJECT_RESUME_H

#include "inject/tracepoint.h"

/*
 * The thread hit tp (regs: pc already backed up to tp->addr).  Change regs so
 * that letting it run has the effect of the displaced instruction: the effect
 * is emulated, or pc goes to the slot.  No text is touched.  Returns
 *	0	registers are ready (set them and continue)
 *	-EFAULT	the instruction would have faulted on memory we emulate
 *		(a call through a bad pointer): *fault_addr is the address; the
 *		caller delivers SIGSEGV at tp->addr
 * Emulation that needs memory uses the target's read and write.
 */
int resume_from(struct tptable *tab, struct tracepoint *tp, struct uregs *regs,
    uint64_t *fault_addr);

enum slot_place {
	SLOT_OUTSIDE, /* pc is in no slot of ours */
	SLOT_BEFORE,  /* displaced instruction not begun: regs were put back
			 * to tp->addr; running it again will trap again */
	SLOT_AFTER,   /* its effect is complete: regs were moved to the next
			 * instruction in the text */
};

/*
 * If pc is inside a slot, move it to the place in the text that stands for it,
 * finishing a half-done rewritten instruction (a call's push, say) by
 * emulation, so that a signal handler, an unwinder or a detach never sees the
 * slot.  *tp (may be NULL) is the slot's tracepoint.
 */
enum slot_place resume_leave_slot(
    struct tptable *tab, struct uregs *regs, struct tracepoint **tp);

/* The address in text that stands for pc, for unwinders: inside a slot
 * tp->addr, or where the displaced instruction goes on when its effect is
 * complete (a thread in a system call made from a slot); else pc itself.
 * The si_addr of a SIGILL, SIGFPE or SIGTRAP is a pc too: whoever delivers one
 * passes it through here, so that a handler sees no slot. */
uint64_t resume_text_pc(struct tptable *tab, uint64_t pc);

/* Where does the jump or call at tp go, with these registers?  False when it is
 * not taken, when what it reads cannot be read, and when it is none. */
bool resume_branch_goes(struct tptable *tab, struct tracepoint *tp,
    const struct uregs *regs, uint64_t *to);

#endif
