/*
 * Room for a jump: whole instructions from a place on, of which it may take the
 * bytes.  They are run elsewhere then.
 *
 *	addr	push %rbp		}
 *		mov %rsp, %rbp		} a window of 8 bytes
 *		sub $0x10, %rsp		}
 *	next	...
 *
 * Nothing but the first instruction may be come to from elsewhere: the bytes
 * behind it are not the program's any more.
 */
#ifndef DISASM_WINDOW_H
#define DISASM_WINDOW_H

#include "disasm/body.h"

#define WINDOW_MOST 5 /* instructions: each has a byte */

struct window {
	struct insn insn[WINDOW_MOST];
	unsigned n; /* of them are there */
	uint64_t
	    next;  /* where it goes on behind them; what ends in a return or a
			* jump does not */
	bool ends; /* it does not go on */
};

/*
 * The window of at least `bytes' at addr, which is an instruction of the body b.
 * Behind an instruction that does not go on, padding that nobody comes to counts
 * as well, also behind the range, where nobody's code begins before limit.  0, or -EINVAL with *why in one phrase.
 */
int window_find(struct window *w, const struct body *b,
    const struct reader *mem, uint64_t limit, uint64_t addr, unsigned bytes,
    const char **why);

#endif
