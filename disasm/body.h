/*
 * The body of a function: the ranges of code that belong to it, and the
 * instructions that leave it.  tracer/names/bodies.c uses it while probes are
 * armed, never at a hit.
 *
 * Compilers move code that seldom runs out of a function into a separate piece.
 * Jumps of the function, or the unwinder, lead to such a piece; it is never
 * called.  A jump between pieces stays in the function.  A jump out of all
 * pieces, with the stack as it was at the entry, is a tail call: the callee
 * returns to this function's caller, so it counts as a return.
 */
#ifndef DISASM_BODY_H
#define DISASM_BODY_H

#include "disasm/insn.h"
#include "dlang/base/reader.h"
#include "dlang/base/vec.h"

struct body_range {
	uint64_t start, end;
};

/* When an exit instruction leaves the function: */
enum body_when {
	BODY_ALWAYS,
	BODY_TAKEN,   /* if the jump is taken */
	BODY_OUTSIDE, /* if the jump leads out of all ranges, or to the entry */
};

struct body_site {
	uint64_t addr;
	enum body_when when;
};

struct body {
	VEC(struct body_range) ranges; /* the first one has the entry */
	/* As ranges: a bit for each byte, set if an instruction begins there. */
	VEC(uint8_t *) begins;
	VEC(struct body_site) exits;
	/* Jumps to the entry that make a loop, and so are no calls. */
	VEC(uint64_t) loops;
	/* Jumps of other functions into the middle of this one, as in assembly
	 * code.  A thread that comes this way leaves through the exits without
	 * having passed the entry. */
	VEC(uint64_t) doors;
	/* Addresses in the ranges that jumps of this function and the unwinder
	 * lead to, in addition to falling through.  Targets of doors are not
	 * included. */
	VEC(uint64_t) leads;
	/* An indirect jump may lead to other addresses too, which it computes.
	 * Without that, each address to which one may lead is in `leads', or an
	 * instruction of the object names it, or a word of the object is it
	 * (disasm/landings.h): from there a pointer to it has come. */
	bool open;
	/* Some bytes are not instructions; the code behind them was not
	 * read. */
	bool cut;
};

/* The state of the stack at an instruction. */
enum body_frame {
	BODY_FRAME_UNKNOWN,
	BODY_FRAME_BARE, /* only the return address is on the stack */
	BODY_FRAME_LAID, /* more is on the stack */
};

struct body_world {
	void *ctx;
	struct reader mem; /* original bytes, and data */
	/* The function jumps to addr, which is in none of b's ranges.  Is that
	 * a piece of the function?  If so, *out is its range. */
	bool (*piece)(void *ctx, const struct body *b, uint64_t addr,
	    struct body_range *out);
	/* Call each() for the addresses in the range where the unwinder may
	 * enter (landing pads). */
	void (*pads)(void *ctx, const struct body_range *r,
	    void (*each)(void *arg, uint64_t pad), void *arg);
	/* Call each() for ranges of other functions that may have doors to
	 * b. */
	void (*others)(void *ctx, const struct body *b,
	    void (*each)(void *arg, const struct body_range *r), void *arg);
	/* Is an address of the range, but for its begin, in data or in an
	 * instruction, so that an indirect jump may lead there?  NULL: it may
	 * be. */
	bool (*named)(void *ctx, const struct body_range *r);
	/* The state of the stack at addr.  NULL: the caller does not need
	 * exits, and b->exits is then incomplete. */
	enum body_frame (*frame)(void *ctx, uint64_t addr);
};

/* No function is larger; a larger size is an error in the file. */
#define BODY_MOST (16U << 20)

/*
 * Find the body of the function at [start, end).  0; -EFBIG, or the errno of
 * reading it: then *b is empty.  Call body_fini() in any case.
 */
int body_find(
    struct body *b, uint64_t start, uint64_t end, const struct body_world *w);
void body_fini(struct body *b);

/* Is addr known as the begin of an instruction of the body? */
bool body_begins(const struct body *b, uint64_t addr);

/* Is addr in one of the n ranges? */
bool body_has(const struct body_range *r, size_t n, uint64_t addr);

#endif
