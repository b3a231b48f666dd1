/*
 * A child under ptrace in which single instructions are run twice, at home and
 * displaced, from the same registers and memory, and everything is compared.
 *
 *	home	two pages of int3: wherever an instruction goes, it stops
 *	data	four pages, beside home
 *	stack	four pages
 */
#ifndef T_RELOC_RIG_H
#define T_RELOC_RIG_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "inject/resume.h"
#include "inject/target.h"
#include "inject/tracepoint.h"

#define RIG_PAGE      4096
#define RIG_HOME_SIZE (2 * RIG_PAGE)
#define RIG_DATA_SIZE (4 * RIG_PAGE)
#define RIG_XSTATE    16384 /* with AMX's tiles it is 11008 */

/* Everything an instruction can change. */
struct rig_state {
	struct user_regs_struct regs;
	uint8_t data[RIG_DATA_SIZE], stack[RIG_DATA_SIZE];
	uint8_t xstate[RIG_XSTATE];
	size_t xstate_len;
	int signal;          /* the stop's */
	uint64_t fault_addr; /* si_addr of a fault */
};

struct rig {
	struct target target; /* first */
	pid_t pid;
	int mem;
	uint64_t home, data, stack, helper;
	bool map_far;  /* map slots out of reach of home */
	int map_error; /* refuse to map, with this */
	/* Some virtual machines cannot go on with a thread after an exception if
	 * its stack pointer is no user address: it gets SIGSEGV.  Runs that end
	 * with one are not compared there. */
	bool needs_user_sp;
	struct rig_state initial;
	unsigned long runs, steps;
};

/* Start the child with its pages around `base'.  Aborts when it cannot. */
void rig_init(struct rig *rig, uint64_t base);
void rig_fini(struct rig *rig);

/* The registers that cases start from; the caller may change them. */
void rig_default_regs(struct rig *rig, struct user_regs_struct *regs);

/*
 * Run the instruction at code[0 .. len), which is put at home + offset, both
 * ways from regs.  With `step', the displaced run is also repeated with an
 * interruption after each instruction in the slot: the thread is taken out of
 * the slot there and goes on.  NULL when all agree, else what does not, in a
 * static buffer; "refused: why" when it cannot be displaced.
 */
const char *rig_compare(struct rig *rig, const uint8_t *code, size_t len,
    unsigned offset, const struct user_regs_struct *regs, bool step);

/* The bytes of an instruction, for a message, in a static buffer. */
const char *rig_bytes(const struct insn *insn);

#endif
