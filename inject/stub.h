/*
 * The code of a site (stub): a site with a jump instead of an int3 jumps to it.
 *
 *		jmp stub		stub	displaced instructions before
 *		...				the site
 *					conditional, not taken?  then to
 *						the displaced instructions
 *					goroutine, no room?  int3
 *	site	...				push the registers that it uses
 *	next	...				tracer alive?  lane the thread's?
 *						body done?  then over
 *						registers to the lane
 *						hit(lane, id, ask)
 *					over:	restore the registers
 *						the displaced instructions
 *						from the site on
 *						jmp next
 *
 * Each site has one stub of its own.  The stub saves every register that it or
 * the function that it calls may change; that function is an ordinary one and
 * saves no more.  Until the stub knows that the lane is the thread's, it writes
 * only to the program's stack, below the red zone.  If the lane is not the
 * thread's, the stub restores the registers and executes an int3, and the
 * tracer handles the hit.  Behind that int3 it goes on to the instruction of the
 * site, so the int3 may also be made a nop.
 *
 * Where two sites share a jump, the stub of the first goes on to that of the second
 * instead of to `next' (inject/tracepoint.h).
 *
 * ask() is in the stub as well: it returns -1, after an int3 at which the tracer
 * may change that.  So this int3, too, may be made a nop.
 *
 * Files outside inject/ use STUB_MEMORY, struct stub_world and stub_possible()
 * only.
 */
#ifndef INJECT_STUB_H
#define INJECT_STUB_H

#include <stdbool.h>
#include <stdint.h>

#include "disasm/window.h"
#include "dlang/uregs.h"
#include "inject/target.h"

/* The name of the memfd that stubs use.  In the target, a private page that
 * belongs to it is mapped just before it. */
#define STUB_MEMORY "dtrap-lanes"

/* Addresses and values that all stubs of an address space contain.  Addresses
 * are those of the target. */
struct stub_world {
	uint64_t hit;         /* hit() of struct agent_table */
	uint64_t lanes, span; /* all lanes are in [lanes, lanes + span) */
	/* Addresses of 32-bit words.  The word at `alive' is `owner' while the
	 * tracer lives.  The word at `mine' is 0 in a child of a fork, which
	 * has no lanes.  If either is otherwise, the stub only executes the
	 * displaced instructions: it neither fires nor traps. */
	uint64_t alive, mine;
	uint32_t owner;
};

/*
 * The body of a site: code that carries out the clauses there in the common
 * cases (dlang/jit/jit.h).  The stub pushes every register that the body may
 * change, calls it on the program's stack, and pops them.  If it has not done
 * everything, the stub goes on as if there were no body: it saves the registers
 * itself and calls hit().
 */
struct stub_body {
	uint64_t row;   /* address of a word with the body's address, which may
		       * change while no thread is at the call; 0: the site has
		       * no body.  The body is told it, too: what is behind the
		       * word is between it and who writes rows. */
	uint32_t saves; /* registers that it may change, as bits by enum ureg,
			 * besides those that the stub changes anyway; it leaves
			 * the direction flag as it is */
};

/* Where the value is that a register had at the site, as an offset from the stack
 * pointer at the body's entry; INT32_MIN: in the register itself. */
int32_t stub_saved_at(uint32_t saves, unsigned ureg);

#define STUB_SIZE_MAX 760

struct stub {
	uint64_t addr; /* of the code; 0: it has no address yet */
	struct stub_body body;
	uint16_t size;
	/* Offsets in the code, in ascending order, but for `displaced': */
	uint16_t begin; /* behind the instructions before the site */
	uint16_t asks;  /* behind those of a branch that is to be taken, and of
			    * a goroutine's stack */
	uint16_t fire;  /* all checks are done; this marks the lane busy */
	uint16_t busy;  /* from here on the lane is busy */
	uint16_t over;  /* the firing is over; this says so */
	uint16_t free;  /* from here on the lane is free again */
	uint16_t out;   /* restores the registers; the hit is over, and the
			    * displaced instructions follow */
	uint16_t trap_out; /* restores the registers, before the int3 */
	uint16_t trap;     /* the int3 */
	uint16_t displaced[WINDOW_MOST + 1]; /* the displaced instructions, up
					      * to `first' before `begin' and
					      * the others here; then the jump
					      * back */
	uint16_t lost;    /* the lane is busy, or a hit is to be skipped */
	uint16_t skipped; /* within that: the hit was skipped */
	uint16_t ask;     /* from here on it is in the firing again: the call of
			    * hit(), if there is a body, and the function ask() */
	uint16_t asked;   /* its int3 */
	uint16_t finds[2]; /* instructions that fault if the thread has no lane:
			    * the tracer takes that for the int3 */
	uint64_t site[WINDOW_MOST + 1]; /* text addresses of the displaced
					 * instructions; then that to which the
					 * last one leads */
	unsigned n;                     /* number of displaced instructions */
	unsigned first;                 /* the one of the site */
	uint64_t onto; /* the code of another site, to which the jump back goes
			* instead; 0: none */
	bool taken;    /* a pass that does not take the branch there does not
		     * fire */
};

/* Does this machine have stubs? */
bool stub_possible(void);
/* Can they be on the stacks of goroutines (struct window)? */
bool stub_on_goroutines(void);
/* What this processor has that code in a target can use, for struct agent
 * (inject/agent/agent.h); 0: nothing in particular. */
uint32_t stub_processor(void);

/* The range [*lo, *hi] in which the whole stub for the window w must lie, so
 * that its jumps and its rip-relative operands reach their targets. */
void stub_reach(const struct window *w, uint64_t *lo, uint64_t *hi);

/* Write the stub of the window w, for the address addr, to buf, and its offsets
 * to *s.  `body' may be NULL.  Returns its size, which does not depend on addr; 0
 * if a target is out of reach from addr. */
unsigned stub_write(struct stub *s, const struct stub_world *world,
    const struct stub_body *body, const struct window *w, uint32_t id,
    uint64_t addr, uint8_t buf[STUB_SIZE_MAX]);

enum stub_place {
	STUB_OUTSIDE,
	STUB_AHEAD,  /* regs are those in the text, at or behind the first
		      * displaced instruction and before the site */
	STUB_BEFORE, /* regs are those at the site; the hit has not fired */
	STUB_FIRING, /* the lane is busy; regs are not changed */
	STUB_FIRED,  /* regs are those at the site; the hit has fired, has been
		      * skipped, or does not take the branch (stub->taken) */
	STUB_BEHIND, /* regs are those in the text, behind the instruction of
		      * the site */
};

/* The pc of a thread is in the stub.  Change regs to what they would be in the
 * text: see the results above. */
enum stub_place stub_leave(
    const struct stub *s, struct target *t, struct uregs *regs);

/* The text address for a pc in the stub: of the displaced instruction that is
 * executed there, or else of the site. */
uint64_t stub_text_pc(const struct stub *s, uint64_t pc);

#endif
