/*
 * The assembler: turns instructions with labels, tables and registers into a
 * DIFO.  The code generator (cg*.c) calls it.
 *
 * The lowest free register is allocated, and freed as soon as its value has
 * been used, so an expression in tree order uses %r1, %r2 and so on.  Up to
 * ASM_REGS registers can be allocated; if that is more than the VM has, spill.c
 * moves the others to memory.
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
	ASM_NOREG,    /* the expression needs more than ASM_REGS registers */
	ASM_TOO_LONG, /* more instructions, integers or strings than DIF can
		       * number */
};

#define ASM_REGS     256
#define ASM_UNPLACED UINT32_MAX /* of a label */

struct as {
	VEC(dif_instr) text;
	VEC(struct difo_place) places; /* of each instruction */
	struct difo_place here;        /* the place of the next instructions */
	VEC(uint32_t) labels;          /* instruction, or ASM_UNPLACED */
	VEC(uint64_t) ints;
	struct hash int_index; /* value -> index + 1 */
	struct str strs;
	struct hash str_index; /* text -> offset (as pointer) */
	VEC(struct difo_var) vars;
	struct arena scratch; /* keys of str_index */
	bool used[ASM_REGS];  /* %rn is taken */
	unsigned nregs;       /* registers that the VM has */
	unsigned high;        /* highest register given out */
	/* Variables that replace registers beyond nregs.  The caller sets it
	 * when asm_slots() is not 0. */
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
/* The label means the next instruction. */
void asm_place(struct as *as, uint32_t label);

void asm_rrr(
    struct as *as, enum dif_op op, unsigned r1, unsigned r2, unsigned rd);
void asm_branch(struct as *as, enum dif_op op, uint32_t label);
void asm_setx(struct as *as, uint64_t value, unsigned rd);
void asm_sets(struct as *as, const char *text, unsigned rd);
/* Load, store or array access of a variable; it is added to vars. */
void asm_var(struct as *as, enum dif_op op, const struct difo_var *v,
    unsigned r2, unsigned rd, bool write);
void asm_note_var(struct as *as, const struct difo_var *v, bool write);
/* Emit an instruction that the functions above cannot make. */
void asm_emit(struct as *as, dif_instr i);
void asm_call(struct as *as, enum dif_subr subr, unsigned rd);

/* The number of clause-local variables of 8 bytes that must replace
 * registers. */
unsigned asm_slots(const struct as *as);

/* spill.c: rewrite the text so that it uses at most nregs registers. */
void asm_spill(struct as *as);

/* asm_finish.c: append `ret r' and make the DIFO in `arena'.  NULL if status is
 * not ASM_OK. */
struct difo *asm_finish(
    struct as *as, unsigned r, struct dif_type rtype, struct arena *arena);

#endif
