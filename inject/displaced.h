/*
 * The plan how to run a displaced instruction elsewhere.  It is made when the
 * tracepoint is created, completed when the tracepoint gets a slot, and
 * followed at every hit.  So a hit decides nothing, and no thread is ever
 * single-stepped.
 *
 * For files of inject/ only.  x86_64/rules.def has the rule for each kind,
 * x86_64/displaced.c the code.
 */
#ifndef INJECT_DISPLACED_H
#define INJECT_DISPLACED_H

#include <stdbool.h>
#include <stdint.h>

#include "disasm/insn.h"
#include "dlang/uregs.h"
#include "inject/resume.h"
#include "inject/target.h"

enum displaced_how {
	DISP_EMULATE, /* no slot: the tracer changes registers and memory */
	DISP_COPY,    /* in the slot, then a jump back to the text */
	DISP_LEAP,    /* in the slot; the instruction itself jumps elsewhere */
	DISP_CALL,    /* in the slot: push of the return address, then a jump */
	DISP_CALL_MEM, /* the same; the slot first loads the target from
			* memory */
	DISP_SYSCALL, /* in the slot, then rcx is corrected, then a jump back */
	DISP_SCRATCH, /* in the slot, far from its data: through a register
			* that is saved below the red zone */
	DISP_OWN_TRAP, /* the program's own int3: nothing is displaced */
	DISP_REFUSE,
};

struct displaced {
	struct insn insn;
	uint8_t how;     /* enum displaced_how */
	uint8_t size;    /* bytes that it needs in a slot; 0: no slot */
	uint8_t scratch; /* SCRATCH: hardware number of the register */
	/* Offsets in the slot, known once it is written. */
	uint8_t begun_at; /* where the instruction, or its rewritten body, is */
	uint8_t done_at;  /* at this pc and behind it the effect is complete */
};

/*
 * Make the plan for insn.  0, or -EOPNOTSUPP with the reason in *why.
 */
int displaced_plan(
    struct displaced *d, const struct insn *insn, const char **why);

/* Where the slot may be: all of it must be within [*lo, *hi]. */
void displaced_window(const struct displaced *d, uint64_t *lo, uint64_t *hi);

/*
 * There is no slot within reach.  Change the plan to one without a slot, or
 * with a slot at any distance.  False if there is no such plan.
 */
bool displaced_go_far(struct displaced *d);

/*
 * Write the code for a slot at address `slot' to buf, and set the offsets in d.
 * Returns the number of bytes, at most d->size (which is at most
 * SLOT_SIZE_MAX).
 */
unsigned displaced_write(struct displaced *d, uint64_t slot, uint8_t *buf);

/*
 * Apply the effect of the instruction to regs, for DISP_EMULATE and
 * DISP_OWN_TRAP.  0; or -EFAULT with *fault_addr set and regs unchanged.
 */
int displaced_emulate(const struct displaced *d, struct target *t,
    struct uregs *regs, uint64_t *fault_addr);

/*
 * The thread is at offset `at' of the slot.  Change regs so that it is at the
 * displaced instruction in the text, or at the instruction that follows it.
 */
enum slot_place displaced_leave(const struct displaced *d, struct target *t,
    unsigned at, struct uregs *regs);

/* The address in the text that corresponds to offset `at' of the slot. */
uint64_t displaced_text_pc(const struct displaced *d, unsigned at);

/* Is the branch taken with these registers?  Then *to is its target.  False
 * also if the target is in memory that cannot be read. */
bool displaced_branch(const struct displaced *d, struct target *t,
    const struct uregs *regs, uint64_t *to);

#endif
