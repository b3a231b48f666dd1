/*
 * The assembler: instructions with labels, tables, registers, into a DIFO.
 *
 * Registers are given out lowest first and given back as soon as their value
 * has been used, so an expression in tree order takes %r1, %r2 and so on.  As
 * many as an instruction has numbers for are given out; when the expression
 * needed more than the machine has, spill.c gives the others a place in memory.
 */
#ifndef DLANG_CC_ASM_H
#define DLANG_CC_ASM_H

#include "dlang/base/arena.h"
#include "dlang/base/hash.h"
#include "dlang/base/str.h"
#include "dlang/base/vec.h"
#include "dlang/prog.h"

struct ident;
struct type;

enum asm_status {
	ASM_OK,
	ASM_NOREG, /* the expression needs more registers than have numbers */
	ASM_TOO_LONG, /* more instructions, integers or strings than DIF has
		       * numbers for */
};

#define ASM_REGS     256
#define ASM_UNPLACED UINT32_MAX /* of a label */

struct as {
	VEC(dif_instr) text;
	VEC(struct difo_place) places; /* of each instruction */
	struct difo_place here;        /* of those that are emitted now */
	VEC(uint32_t) labels;          /* instruction, or ASM_UNPLACED */
	VEC(uint64_t) ints;
	struct hash int_index; /* value -> index + 1 */
	struct str strs;
	struct hash str_index; /* text -> offset (as pointer) */
	VEC(struct difo_var) vars;
	struct arena scratch; /* keys of str_index */
	bool used[ASM_REGS];  /* %rn is taken */
	unsigned nregs;       /* of the machine */
	unsigned high;        /* highest register given out */
	/* Where those live that the machine does not have; set when
	 * asm_slots() says how many are needed. */
	const struct difo_var *slots;
	enum asm_status
	    status; /* the first failure; later calls are harmless */
};

void asm_init(struct as *as, unsigned nregs);
void asm_fini(struct as *as);

/* A free register; 0 after ASM_NOREG. */
unsigned asm_reg(struct as *as);
void asm_reg_free(struct as *as, unsigned r);
/* Claim a certain register, which is free. */
void asm_reg_take(struct as *as, unsigned r);

uint32_t asm_label(struct as *as);
/* The next instruction is what the label names. */
void asm_place(struct as *as, uint32_t label);

void asm_rrr(
    struct as *as, enum dif_op op, unsigned r1, unsigned r2, unsigned rd);
void asm_branch(struct as *as, enum dif_op op, uint32_t label);
void asm_setx(struct as *as, uint64_t value, unsigned rd);
void asm_sets(struct as *as, const char *text, unsigned rd);
/* Load, store or array access of a variable, which is noted for -S. */
void asm_var(struct as *as, enum dif_op op, const struct difo_var *v,
    unsigned r2, unsigned rd, bool write);
void asm_note_var(struct as *as, const struct difo_var *v, bool write);
/* An instruction as it is; the others are made with the functions above. */
void asm_emit(struct as *as, dif_instr i);
void asm_call(struct as *as, enum dif_subr subr, unsigned rd);

/* How many clause-local variables of 8 bytes have to stand in for registers. */
unsigned asm_slots(const struct as *as);

/* spill.c: make the text do with the registers of the machine. */
void asm_spill(struct as *as);

/* asm_finish.c: end with `ret r' and make the DIFO, in `arena'.  NULL if status is not
 * ASM_OK. */
struct difo *asm_finish(
    struct as *as, unsigned r, struct dif_type rtype, struct arena *arena);

#endif
