/*
 * Boards (inject/tracepoint.h): padding between functions in which a jump can stand
 * that only a short jump near by leads to.
 *
 *	function	...
 *			ret
 *	start		nop		whole nops or traps, to which nothing leads;
 *	end - 5		nop (board)	those behind the first bytes, which may be in
 *	end		next function	the window of the return
 */
#ifndef TRACER_SITES_BOARDS_H
#define TRACER_SITES_BOARDS_H

#include <stdint.h>

#include "disasm/body.h"

struct load;
struct sequences;
struct space;
struct state;

/* A board for a short jump at addr, which is in l and in the body `own', in the same
 * page, that no other place has; 0: there is none. */
uint64_t boards_find(struct state *st, struct space *sp, const struct load *l,
    uint64_t addr, struct sequences *q, const struct body *own);

#endif
