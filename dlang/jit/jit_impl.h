/*
 * What jit.c finds out about a DIFO before machine code is written.
 */
#ifndef DLANG_JIT_JIT_IMPL_H
#define DLANG_JIT_JIT_IMPL_H

#include "dlang/jit/jit.h"

/* What is known when control comes to an instruction. */
struct jit_point {
	bool reached; /* false: it is never executed */
	uint8_t set;  /* registers that are set on every way there, as bits */
	int8_t depth; /* of the tuple stack; JIT_MIXED: it depends on the way */
	uint8_t cond; /* the opcode of the comparison that was the last
		       * instruction but for branches; 0: there is none, or it
		       * depends on the way */
	uint32_t pending; /* for the machine: branches to here */
};

#define JIT_MIXED (-1)

struct jit_plan {
	const struct img_difo *d;
	const dif_instr *text;
	const uint64_t *ints;
	struct jit_point *points; /* for each instruction */
	/* The instructions that first write and last read a register. */
	uint32_t first[DIF_REGS], last[DIF_REGS];
	uint8_t used;     /* registers that occur, as bits */
	uint8_t zeroed;   /* those that may be read before they are written */
	uint8_t tuple;    /* greatest depth of the tuple stack */
	bool calls;       /* a helper is called */
	bool conds_kept;  /* a branch does not follow its comparison */
	const char *why;  /* it cannot be compiled */
	uint32_t *starts; /* jit_difo()'s */
};

/* Find out; points is zeroed memory. */
void jit_plan(struct jit_plan *p, const struct region *image,
    const struct img_difo *d, struct jit_point *points);

/* The registers, as bits, whose values at the instruction n are used later and
 * not changed by it. */
uint8_t jit_live(const struct jit_plan *p, uint32_t n);

/* ---- the machine's ---- */

/* Does the code of this opcode call a helper? */
bool jit_op_calls(uint32_t op);
/* Write the code of a plan.  As jit_difo(). */
size_t jit_write(struct jit_plan *p, const struct jit_place *place,
    uint8_t *buf, size_t size, const char **why);

#endif
