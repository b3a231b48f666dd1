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
 *						registers to the lane
 *						hit(lane, id, ask)
 *					over:	restore the registers
 *						the displaced instructions
 *						from the site on
 *						jmp next
 *
 * If the site has a body, which does most firings, the code is in two pieces.
 * Those that threads execute all the time lie close together, in memory of their
 * own, and are as small as they can be: a program with many sites needs few of the
 * processor's cache lines and pages for each.
 *
 *	first piece			run(row), for all sites with this body
 *
 *	displaced before the site	tracer alive?  row for this body?  lane
 *	not taken?  no room?		the thread's, and free?
 *	push the registers that all				no: nothing done
 *		this uses		busy = sp
 *	rcx = row; call run ------>	the body
 *					busy = 0
 *	pop			  <---	return what was done
 *	not all done?	then again
 *	restore the registers
 *	displaced from the site on
 *	jmp next
 *			second piece
 *
 *			again:	done, but called?  then restore, int3
 *				restore the registers
 *				push the registers that it uses
 *				...	all that code without a body does
 *				over:	restore the registers
 *				jmp displaced, in the first piece
 *
 * run() is an ordinary function, and saves nothing.  Before the lane is busy and
 * behind that it has pushed nothing: the word at the stack pointer leads back to
 * the first piece of the site.
 *
 * Each site has one stub of its own.  The stub saves every register that it or
 * a function that it calls may change; that function is an ordinary one and
 * saves no more.  Until a thread knows that the lane is its own, it writes
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
 * cases (dlang/jit/jit.h), on the program's stack.  If it has not done
 * everything, it has done nothing, and the stub goes on as if there were no body.
 * The code is copied; it may be anywhere.
 */
struct stub_body {
	uint64_t row;    /* address of a 32-bit word: as long as it is `number',
			* the body is for this site.  0: the site has no
			* body.  The body is told it, too: what is behind the
			* word is between it and who writes rows.  It is behind
			* `mine', by less than 4 GiB. */
	uint32_t number; /* of the body, not 0 */
	const uint8_t *code; /* borrowed */
	uint32_t size;
	uint32_t exits[2]; /* offsets of the instructions that return */
	uint32_t saves; /* registers that it may change, as bits by enum ureg,
			 * besides those that the stub changes anyway; it leaves
			 * the direction flag as it is */
};

/* Where the value is that a register had at the site, as an offset from the stack
 * pointer at the body's entry; INT32_MIN: in the register itself. */
int32_t stub_saved_at(uint32_t saves, unsigned ureg);

/* The most bytes of a body, and of run() with it. */
#define STUB_BODY_MAX 4096
#define STUB_RUN_MAX  (STUB_BODY_MAX + 192)

/* run() for a body, for sites without or with a goroutine's stack. */
struct stub_run {
	uint64_t addr;
	uint32_t number; /* of the body */
	bool goroutine;
	uint16_t size;
	/* Offsets: */
	uint16_t entry;    /* before that it says that nothing was done */
	uint16_t busy;     /* the body: the lane is busy */
	uint16_t exits[2]; /* where it returns: it is not busy any more, and the
			    * thread knows if it is called */
	uint16_t finds[2]; /* instructions that fault if the thread has no lane:
			    * the tracer takes that for the int3 */
};

/* Write run() for the address addr, and its offsets to *r.  Returns its size. */
unsigned stub_run_write(struct stub_run *r, const struct stub_world *world,
    const struct stub_body *body, bool goroutine, uint64_t addr,
    uint8_t buf[STUB_RUN_MAX]);

/* The pc is in run().  Is the thread in the body, wherever its stack is? */
static inline bool
stub_run_fires(const struct stub_run *r, uint64_t pc)
{
	uint64_t at = pc - r->addr;

	return at >= r->busy && at != r->exits[0] && at != r->exits[1];
}

/* The most bytes of the first piece, if there are two; of the other one, or the only
 * one; and of all. */
#define STUB_FIRST_MAX 240
#define STUB_REST_MAX  760
#define STUB_SIZE_MAX  (STUB_FIRST_MAX + STUB_REST_MAX)

/* Where the code is to be. */
struct stub_places {
	uint64_t addr; /* the first piece */
	uint64_t rare; /* with a body: the second one */
	uint64_t run;  /* and the entry of run() */
};

struct stub {
	uint64_t addr;       /* of the code; 0: it has no address yet */
	uint64_t rare;       /* of its second piece; 0: there is only one */
	uint32_t saves;      /* with a body: of struct stub_body */
	uint16_t size;       /* of both */
	uint16_t first_size; /* of the first one; the second has the rest */
	/* Offsets in the first piece and the second one behind it, in ascending
	 * order, but for `displaced' and those that are 0: */
	uint16_t begin; /* behind the instructions before the site */
	uint16_t asks;  /* behind those of a branch that is to be taken, and of
			    * a goroutine's stack */
	/* With a body: */
	uint16_t back;  /* behind the call of run() */
	uint16_t done;  /* restores the registers; the hit is over, and the
			    * displaced instructions follow */
	uint16_t again; /* asks whether the hit is over; if it is not, restores
			    * the registers */
	/* Without, or if the body has done nothing: */
	uint16_t start; /* = asks without a body: pushes the first registers */
	uint16_t fire;  /* all checks are done; this marks the lane busy */
	uint16_t busy;  /* from here on the lane is busy */
	uint16_t over;  /* the firing is over; this says so */
	uint16_t free;  /* it is over, and the thread knows if it is called */
	uint16_t out;   /* restores the registers; the hit is over, and the
			    * displaced instructions follow, or a jump to
			    * them */
	uint16_t trap_out; /* restores the registers, before the int3 */
	uint16_t trap;     /* the int3 */
	uint16_t called_out, called_trap;    /* the same behind a firing, if the
					   * tracer has called the thread */
	uint16_t displaced[WINDOW_MOST + 1]; /* the displaced instructions, up
					      * to `first' before `begin' and
					      * the others behind `done', or
					      * `out'; then the jump back */
	uint16_t ends;                       /* behind the jump back */
	uint16_t lost;     /* the lane is busy, or a hit is to be skipped */
	uint16_t skipped;  /* within that: the hit was skipped */
	uint16_t ask;      /* the function ask(), within the firing */
	uint16_t asked;    /* its int3 */
	uint16_t finds[2]; /* as those of run() */
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

/* The address of what is at this offset. */
static inline uint64_t
stub_address(const struct stub *s, unsigned at)
{
	return at < s->first_size ? s->addr + at :
				    s->rare + (at - s->first_size);
}

/* The offset of pc, or a number that is not less than s->size. */
static inline unsigned
stub_offset(const struct stub *s, uint64_t pc)
{
	if (pc - s->addr < s->first_size)
		return (unsigned)(pc - s->addr);
	return pc - s->rare < (uint64_t)s->size - s->first_size ?
	    s->first_size + (unsigned)(pc - s->rare) :
	    UINT32_MAX;
}

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

/* Write the stub of the window w to buf, one piece behind the other, for these
 * addresses, and its offsets to *s.  `body' may be NULL.  Returns the size, which
 * does not depend on the addresses; 0 if a target is out of reach. */
unsigned stub_write(struct stub *s, const struct stub_world *world,
    const struct stub_body *body, const struct window *w, uint32_t id,
    const struct stub_places *at, uint8_t buf[STUB_SIZE_MAX]);

enum stub_place {
	STUB_OUTSIDE,
	STUB_AHEAD,  /* regs are those in the text, at or behind the first
		      * displaced instruction and before the site */
	STUB_BEFORE, /* regs are those at the site; the hit has not fired */
	STUB_FIRING, /* the lane is busy, or has been, and the thread will trap;
		      * regs are not changed */
	STUB_FIRED,  /* regs are those at the site; the hit has fired, has been
		      * skipped, or does not take the branch (stub->taken) */
	STUB_BEHIND, /* regs are those in the text, behind the instruction of
		      * the site */
};

/* The pc of a thread is in the stub.  Change regs to what they would be in the
 * text: see the results above. */
enum stub_place stub_leave(
    const struct stub *s, struct target *t, struct uregs *regs);

/* The same for a pc in run(), but not in the body: the word at the stack pointer is in
 * the stub. */
enum stub_place stub_run_leave(const struct stub_run *r, const struct stub *s,
    struct target *t, struct uregs *regs);

/* The text address for a pc in the stub: of the displaced instruction that is
 * executed there, or else of the site. */
uint64_t stub_text_pc(const struct stub *s, uint64_t pc);

#endif
