/*
 * The code of a site: what a jump in an int3's place leads to.
 *
 *	site	jmp stub		stub	registers to the stack
 *		...				are we alive, is the lane ours?
 *	next	...				registers to the lane
 *						hit(lane, id)
 *						registers back
 *						the instructions under the jump
 *						jmp next
 *
 * One piece of code for each site saves all that it or what it calls may change,
 * by itself; what it calls is an ordinary function that saves no more.  Nothing is
 * written but to the program's stack, below its red zone, until the lane is known to
 * be the thread's.  Where it is not, the thread meets an int3 in the code, at which
 * it has the registers that it came with: the hit is made by the tracer.  Behind
 * that int3 are the instructions under the jump, so that it may be a nop as well.
 *
 * For files of inject/ only, but for STUB_MEMORY, struct stub_world and
 * stub_possible().
 */
#ifndef INJECT_STUB_H
#define INJECT_STUB_H

#include <stdbool.h>
#include <stdint.h>

#include "disasm/window.h"
#include "dlang/uregs.h"
#include "inject/target.h"

/* The file of memory that such code works on is called so.  Before its mapping is
 * one of a page that belongs to it. */
#define STUB_MEMORY "dtrap-lanes"

/* What the code of all sites of an address space goes by; addresses are the
 * target's. */
struct stub_world {
	uint64_t hit;         /* struct agent_table's */
	uint64_t lanes, span; /* a lane lies in [lanes, lanes + span) */
	/* Words of 32 bits.  The first is `owner' while somebody is there for the
	 * int3; the second is 0 in a copy of the memory that nobody knows of.
	 * Otherwise the code is no more than a way round. */
	uint64_t alive, mine;
	uint32_t owner;
};

#define STUB_SIZE_MAX 640

struct stub {
	uint64_t addr; /* of the code; 0: it has no place yet */
	uint16_t size;
	/* Offsets: the firing begins, the lane is busy from the one on, and free from the other; the
	 * two ways out, the int3 at the end of the second, the instructions under
	 * the jump, and what comes when the lane is busy or a hit is to be skipped. */
	uint16_t fire, busy, free, out, trap_out, trap,
	    displaced[WINDOW_MOST + 1];
	uint16_t lost, skipped; /* it has, and is not to fire */
	uint16_t finds[2]; /* instructions that fault where there is no lane */
	uint64_t site[WINDOW_MOST + 1]; /* where those are in the text; the last
					 * is where it goes on */
	unsigned n;                     /* instructions */
};

/* Is there such code for the machine? */
bool stub_possible(void);

/* Where the code may lie for what it jumps to and refers to: all of it in
 * [*lo, *hi]. */
void stub_reach(const struct window *w, uint64_t *lo, uint64_t *hi);

/* The code for the window w, at `addr', into buf, and its offsets.  Its size, which
 * does not depend on addr; 0: something is out of reach from there. */
unsigned stub_write(struct stub *s, const struct stub_world *world,
    const struct window *w, uint32_t id, uint64_t addr,
    uint8_t buf[STUB_SIZE_MAX]);

enum stub_place {
	STUB_OUTSIDE,
	STUB_BEFORE, /* regs are those at the site; it has not fired */
	STUB_FIRING, /* it fires: regs are as they were */
	STUB_FIRED,  /* regs are those at the site; it has fired */
	STUB_BEHIND, /* regs are those in the text behind the first instruction */
};

/* A thread has its pc in the code: its registers as if it were in the text. */
enum stub_place stub_leave(
    const struct stub *s, struct target *t, struct uregs *regs);

/* Where in the text is that? */
uint64_t stub_text_pc(const struct stub *s, uint64_t pc);

#endif
