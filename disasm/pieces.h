/*
 * Which ranges of code are pieces of a function, where no symbol says so.
 *
 * Unwind entries tell where a range of code begins and ends, but the part that
 * a compiler has put elsewhere has an entry of its own.  It is a piece of
 * function F if jumps of F, or the unwinder on behalf of F, lead there, those
 * of nobody else do, nobody calls it and nobody holds its address.
 */
#ifndef DISASM_PIECES_H
#define DISASM_PIECES_H

#include "disasm/insn.h"
#include "dlang/base/reader.h"

struct piece_range {
	uint64_t start, end;
	bool function;  /* in: it is one, by a symbol or for another reason */
	uint32_t owner; /* out: the index of the function that it is a piece
			 * of; its own: it is none */
};

struct piece_world {
	void *ctx;
	struct reader code;
	bool fixed; /* addresses are what they will be in memory: so constants
		     * in instructions may be some */
	/* Where the unwinder may let the code of a range go on. */
	void (*pads)(void *ctx, const struct piece_range *r,
	    void (*each)(void *arg, uint64_t pad), void *arg);
	/* Every word of data that may be an address of code. */
	void (*held)(
	    void *ctx, void (*each)(void *arg, uint64_t addr), void *arg);
	/* Is more on the stack at this begin than a return address?  Then no
	 * function begins there, whoever holds the address. */
	bool (*laid)(void *ctx, uint64_t addr);
};

/*
 * Tell the owners of n ranges, which are in address order and do not overlap.
 * Reads all of the code: some 30 ns an instruction.
 */
void pieces_find(struct piece_range *r, size_t n, const struct piece_world *w);

/* The range that holds addr, or n. */
size_t pieces_at(const struct piece_range *r, size_t n, uint64_t addr);

/* Is it the linker's way to a function of another object: a jump through the
 * address that the run-time linker has stored? */
bool pieces_is_stub(const struct reader *code, uint64_t addr);

#endif
