/*
 * A window: whole instructions whose bytes a jump can replace.  These
 * instructions then run elsewhere.
 *
 *	addr	push %rbp		}
 *		mov %rsp, %rbp		} a window of 8 bytes
 *		sub $0x10, %rsp		}
 *	next	...
 *
 *		add $0x10, %rsp		} one of 5 bytes, which begins before
 *	addr	ret			} addr
 *
 * Control may enter a window only at its first instruction, because the bytes
 * behind it are no longer the program's.  So whoever comes to addr has come from
 * there.
 */
#ifndef DISASM_WINDOW_H
#define DISASM_WINDOW_H

#include "disasm/body.h"

#define WINDOW_MOST 5 /* instructions; each has at least one of the 5 bytes */

/* A call can only be the last instruction, because the bytes behind it are returned
 * to.  Its return address lies behind the window. */
struct window {
	struct insn insn[WINDOW_MOST];
	unsigned n;     /* number of instructions */
	unsigned site;  /* which of them is the one that was asked about */
	uint64_t next;  /* the instruction behind the window, unless `ends' */
	bool taken;     /* the caller's: passes of that instruction count only
			* if it is a conditional jump that is taken */
	uint64_t onto;  /* the caller's: code that takes the place of the text
			* where control goes behind it; 0: none */
	bool goroutine; /* the caller's: the site is the entry or a return of a
			 * function that Go's compiler has made, so that the
			 * thread may be on the stack of a goroutine, which may
			 * have no room */
	bool ends;      /* the last instruction is a return or a jump */
	uint64_t
	    board; /* the caller's: padding near by for a second jump, so that
			 * the one in the window can be a short one; 0: none */
};

/* Does it end with a call? */
static inline bool
window_calls(const struct window *w)
{
	return w->n > 0 && w->insn[w->n - 1].kind == INSN_CALL;
}

/* Where control goes behind the last instruction, unless `ends'. */
static inline uint64_t
window_leads(const struct window *w)
{
	return window_calls(w) ? w->insn[w->n - 1].target : w->next;
}

/*
 * Find a window of at least `bytes' with addr, an instruction of the body b: one
 * that begins there, or else one that ends behind that instruction.  Behind a
 * return or a jump, padding that no code jumps to may be part of the first, also
 * behind the range, up to limit, where other code begins.  0, or -EINVAL with the
 * reason why no window begins at addr in *why, one phrase.
 */
int window_find(struct window *w, const struct body *b,
    const struct reader *mem, uint64_t limit, uint64_t addr, unsigned bytes,
    const char **why);

/*
 * Is [from, to), behind the last instruction of a range of b, padding to which that
 * instruction and the jumps of b do not lead?  Whole nops or traps; not a row of nops
 * of a byte each, which compilers leave for those who replace functions.
 */
bool window_is_dead(
    const struct body *b, const struct reader *mem, uint64_t from, uint64_t to);

#endif
