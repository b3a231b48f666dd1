/*
 * Where an indirect jump has its target from: a jump table, which a compiler made
 * from a switch or a computed goto, or a pointer.  disasm/ and lock functions
 * (prov/plock) use it.
 */
#ifndef DISASM_JUMPTABLE_H
#define DISASM_JUMPTABLE_H

#include "disasm/insn.h"

struct jumptable {
	uint64_t addr;
	bool relative;  /* entries are distances from base, 4 bytes each; else
			 * addresses */
	uint64_t base;  /* mostly addr itself; a label, if the program computes
			 * the table with a language's labels as values */
	uint64_t since; /* the instruction that loads the address of the table,
			 * or the jump itself.  A jump to an instruction between
			 * the two may bring another table */
};

/* The number of instructions before a jump that are searched. */
#define JUMPTABLE_WINDOW 16

/* An address that a jump through a table uses: a constant, added to what a
 * register has at the instruction `at'. */
struct jumpbase {
	uint8_t reg; /* INSN_NOREG: none */
	uint64_t at;
	uint64_t add;
};

/* The same before its constants are known. */
struct jumpshape {
	bool relative;
	struct jumpbase table;
	struct jumpbase from; /* if it is relative: of the distances */
};

/*
 * w has n instructions that follow each other in memory; the last is an
 * INSN_JMP_IND.  Does it jump through a table, by an index?  Then *shape says by
 * which registers; without those, they may have been set anywhere.
 */
bool jumptable_shape(const struct insn *w, size_t n, struct jumpshape *shape);

/*
 * Are the registers of w's shape set in w to constants?  Contents and length of the
 * table are not checked.
 */
bool jumptable_find(const struct insn *w, size_t n,
    const struct jumpshape *shape, struct jumptable *out);

/* Is the constant that the instruction gives to this register known? */
bool insn_gives_constant(const struct insn *in, uint8_t reg, uint64_t *value);

/* What an instruction does to a general register. */
enum giving {
	GIVES_NOTHING,
	GIVES_WORD, /* loads it whole from memory, but not from the stack; or it
		     * names an address */
	GIVES_FRAMED, /* as GIVES_WORD, by the frame pointer, if it is one */
	GIVES_COPY,   /* of another register, which is in *reg then */
	GIVES_ELSE,   /* anything else, or it is not known */
};

enum giving insn_gives(const struct insn *in, uint8_t *reg);

/* The same for an INSN_JMP_IND and the address to which it jumps. */
enum giving insn_jumps_by(const struct insn *in, uint8_t *reg);

/* Does a function get an argument in this register? */
bool insn_is_argument(uint8_t reg);

#endif
