/*
 * The plan for running a displaced instruction elsewhere: made when its
 * tracepoint is created, completed when it gets a slot, followed at every hit.
 * Nothing is decided at a hit, and no thread is ever single-stepped.
 *
 * For files of inject/ only.  The rules by kind are x86_64/rules.def, the
 * machine half is x86_64/displaced.c.
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
	DISP_EMULATE, /* from registers, or memory where a slot cannot do it */
	DISP_COPY,    /* in the slot, then a jump back to the text */
	DISP_LEAP,    /* in the slot; it goes where it goes by itself */
	DISP_CALL,    /* in the slot: push of the return address, then a jump */
	DISP_CALL_MEM, /* likewise, when the target is to be fetched first */
	DISP_SYSCALL,  /* in the slot, then rcx is put right, then back */
	DISP_SCRATCH,  /* in the slot, far from its data: through a register
			* that is saved below the red zone */
	DISP_OWN_TRAP, /* the program's own int3: nothing is displaced */
	DISP_REFUSE,
};

struct displaced {
	struct insn insn;
	uint8_t how;     /* enum displaced_how */
	uint8_t size;    /* bytes of slot it needs, 0 when none */
	uint8_t scratch; /* SCRATCH: hardware number of the register */
	/* Offsets in the slot, known once it is written. */
	uint8_t begun_at; /* where the instruction, or its rewritten body, is */
	uint8_t done_at;  /* from here on its effect is complete */
};

/*
 * Plan for insn.  0, or -EOPNOTSUPP with the reason in *why.
 */
int displaced_plan(
    struct displaced *d, const struct insn *insn, const char **why);

/* Where a slot may lie for d as it is planned: all of it in [*lo, *hi]. */
void displaced_window(const struct displaced *d, uint64_t *lo, uint64_t *hi);

/*
 * No slot was to be had in the window.  Change the plan to one that needs
 * none, or one that may lie anywhere.  False if there is no such plan.
 */
bool displaced_go_far(struct displaced *d);

/*
 * The bytes for a slot at `slot', at most SLOT_SIZE_MAX of them into buf, and
 * the offsets in d.  Returns how many; always as many as d->size or fewer.
 */
unsigned displaced_write(struct displaced *d, uint64_t slot, uint8_t *buf);

/*
 * Give regs the effect of the instruction: DISP_EMULATE and DISP_OWN_TRAP.
 * 0; -EFAULT with *fault_addr, and then regs are as they were.
 */
int displaced_emulate(const struct displaced *d, struct target *t,
    struct uregs *regs, uint64_t *fault_addr);

/*
 * The thread with regs stands at offset `at' of d's slot: put it back to the
 * instruction, or forward to where the instruction goes.
 */
enum slot_place displaced_leave(const struct displaced *d, struct target *t,
    unsigned at, struct uregs *regs);

/* Where text stands for offset `at' of d's slot, for readers of a pc. */
uint64_t displaced_text_pc(const struct displaced *d, unsigned at);

/* Does the branch go anywhere but on, with these registers, and where?  False
 * also where only memory knows that cannot be read. */
bool displaced_branch(const struct displaced *d, struct target *t,
    const struct uregs *regs, uint64_t *to);

/* How an instruction is displaced, as text: "emulate", "copy" ... */
const char *displaced_name(enum displaced_how how);

#endif
