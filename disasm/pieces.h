/*
 * Finds which ranges of code are pieces of a function when no symbols tell.
 *
 * Unwind entries give the bounds of ranges of code, but a part of a function
 * that the compiler moved elsewhere has its own entry.  Such a range is a piece
 * of function F if jumps of F, or the unwinder for F, lead to it, no jumps of
 * other functions do, no instruction calls it, and no data contains its
 * address.
 */
#ifndef DISASM_PIECES_H
#define DISASM_PIECES_H

#include "disasm/insn.h"
#include "dlang/base/reader.h"

struct piece_range {
	uint64_t start, end;
	bool function; /* in: known to be a function, by a symbol for example */
	uint32_t owner; /* out: index of the function that it is a piece of; its
			 * own index if it is no piece */
};

struct piece_world {
	void *ctx;
	struct reader code;
	bool fixed; /* the file is not relocated in memory, so constants in
		     * instructions may be addresses */
	/* Call each() for the landing pads of the code in a range. */
	void (*pads)(void *ctx, const struct piece_range *r,
	    void (*each)(void *arg, uint64_t pad), void *arg);
	/* Call each() for every word of data that may be an address of code. */
	void (*held)(
	    void *ctx, void (*each)(void *arg, uint64_t addr), void *arg);
	/* Is more than a return address on the stack at addr, the begin of a
	 * range?  Then it is not the entry of a function, even if data contains
	 * the address. */
	bool (*laid)(void *ctx, uint64_t addr);
};

/*
 * Set the owners of n ranges, which are in address order and do not overlap.
 * Reads all of the code, at some 30 ns an instruction.
 */
void pieces_find(struct piece_range *r, size_t n, const struct piece_world *w);

/* The range that holds addr, or n. */
size_t pieces_at(const struct piece_range *r, size_t n, uint64_t addr);

/* Is there a stub of the linker at addr: a jump to a function of another
 * object, through the address that the run-time linker has stored? */
bool pieces_is_stub(const struct reader *code, uint64_t addr);

#endif
