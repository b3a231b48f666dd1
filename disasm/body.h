/*
 * The body of a function: the ranges of code that it is made of, and where it
 * is left.  Used only while arming.
 *
 * Compilers put what is seldom run elsewhere: such a piece is reached by jumps
 * of the function, or by the unwinder, and nobody calls it.  A jump between
 * pieces stays in the function; a jump out of them all, made when the stack is
 * as it was at the begin, is a call that returns to this function's caller: a
 * tail call, and so a return.
 */
#ifndef DISASM_BODY_H
#define DISASM_BODY_H

#include "disasm/insn.h"
#include "dlang/base/reader.h"
#include "dlang/base/vec.h"

struct body_range {
	uint64_t start, end;
};

/* Who comes to a site leaves the function: */
enum body_when {
	BODY_ALWAYS,
	BODY_TAKEN,   /* when the jump is taken */
	BODY_OUTSIDE, /* when the jump leads out of all ranges, or to the
		       * begin */
};

struct body_site {
	uint64_t addr;
	enum body_when when;
};

struct body {
	VEC(struct body_range) ranges; /* that with the begin first */
	VEC(struct body_site) exits;
	/* Jumps to the begin which make a loop: they are no calls. */
	VEC(uint64_t) loops;
	/* Jumps of other functions into the middle of this one, as in code that
	 * is written by hand: who comes so leaves through the exits, but has
	 * not entered. */
	VEC(uint64_t) doors;
	/* Where jumps and the unwinder come to in the ranges, other than by going
	 * on; doors are not among them. */
	VEC(uint64_t) leads;
	/* Some indirect jump may come to more places than those. */
	bool open;
	/* Some bytes are no instructions: what comes behind was not read. */
	bool cut;
};

/* What is known of the code besides its bytes. */
enum body_frame {
	BODY_FRAME_UNKNOWN,
	BODY_FRAME_BARE, /* only the return address is on the stack */
	BODY_FRAME_LAID, /* more is */
};

struct body_world {
	void *ctx;
	struct reader mem; /* original bytes, and data */
	/* The function at b's begin jumps to addr, which is in none of b's
	 * ranges: is that a piece of it?  Then which range. */
	bool (*piece)(void *ctx, const struct body *b, uint64_t addr,
	    struct body_range *out);
	/* Where the unwinder may enter: calls each() for what the code of the
	 * range has. */
	void (*pads)(void *ctx, const struct body_range *r,
	    void (*each)(void *arg, uint64_t pad), void *arg);
	/* Ranges of other functions that may have doors to b: calls each(). */
	void (*others)(void *ctx, const struct body *b,
	    void (*each)(void *arg, const struct body_range *r), void *arg);
	/* NULL: exits are not asked for, and not all of them are told. */
	enum body_frame (*frame)(void *ctx, uint64_t addr);
};

/* Nobody's function is larger; what says so lies. */
#define BODY_MOST (16U << 20)

/*
 * Find all of the function at [start, end).  0; -EFBIG, or the errno of reading
 * it, and then nothing is in *b.  body_fini() in any case.
 */
int body_find(
    struct body *b, uint64_t start, uint64_t end, const struct body_world *w);
void body_fini(struct body *b);

/* Is addr in one of the n ranges? */
bool body_has(const struct body_range *r, size_t n, uint64_t addr);

#endif
