/*
 * Where an indirect jump finds its destinations, when compilers made it of a
 * switch or of a computed goto.
 */
#ifndef DISASM_JUMPTABLE_H
#define DISASM_JUMPTABLE_H

#include "disasm/insn.h"

struct jumptable {
	uint64_t addr;
	bool relative;  /* entries are distances from addr, 4 bytes each; else
			 * addresses */
	uint64_t since; /* the instruction that the address of the table comes
			 * from, or the jump: who gets in between by a jump may
			 * have another one */
};

/* As many instructions before a jump are worth a look. */
#define JUMPTABLE_WINDOW 16

/*
 * The last of the n instructions, which follow each other in memory, is an
 * INSN_JMP_IND: does it jump through a table, by an index?  What the table
 * holds, and how long it is, is not looked at.
 */
bool jumptable_find(const struct insn *w, size_t n, struct jumptable *out);

#endif
