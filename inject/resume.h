/*
 * Computes the registers that continue a thread from a tracepoint, and moves a
 * thread out of a slot before a signal is delivered or the process is detached.
 * tracer/fire/ and tracer/drive/ call it.
 */
#ifndef INJECT_RESUME_H
#define INJECT_RESUME_H

#include "inject/tracepoint.h"

/*
 * The thread hit tp (regs: pc already backed up to tp->addr).  Change regs so
 * that letting it run has the effect of the displaced instruction: the effect
 * is emulated, or pc goes to the slot.  No text is touched.  Returns
 *	0	registers are ready (set them and continue)
 *	-EFAULT	the instruction would have faulted on memory we emulate
 *		(a call through a bad pointer): *fault_addr is the address; the
 *		caller delivers SIGSEGV at tp->addr
 *
 * Emulation reads and writes memory through the target.
 */
int resume_from(struct tptable *tab, struct tracepoint *tp, struct uregs *regs,
    uint64_t *fault_addr);

enum slot_place {
	SLOT_OUTSIDE, /* pc is not in a slot */
	SLOT_BEFORE,  /* displaced instruction not begun: regs were put back
			 * to tp->addr; running it again will trap again */
	SLOT_AFTER,   /* its effect is complete: regs were moved to the next
			 * instruction in the text */
	SLOT_ENTERED, /* resume_leave_stub() */
	SLOT_FIRING,
};

/*
 * If pc is inside a slot, move it to the corresponding place in the text.  An
 * instruction of several steps that is half done (a call's push, for example)
 * is completed by emulation.  So signal handlers, unwinders and programs after
 * a detach never see a slot.  *tp (tp may be NULL) is the slot's tracepoint.
 */
enum slot_place resume_leave_slot(
    struct tptable *tab, struct uregs *regs, struct tracepoint **tp);

/*
 * The same for code of a site (inject/stub.h), with these results.  *tp is set
 * unless the result is SLOT_OUTSIDE, and may be NULL if it is SLOT_FIRING.
 *
 *	SLOT_FIRING	the thread is in the middle of a firing; regs are unchanged
 *	SLOT_ENTERED	regs are those at (*tp)->addr; the hit has not fired
 *	SLOT_BEFORE	the same; the hit has fired
 *	SLOT_AFTER	regs are those at another instruction of the text, before or
 *			behind (*tp)->addr
 *
 * Unless regs lead to where the jump begins, remove it before the thread runs.
 */
enum slot_place resume_leave_stub(
    struct tptable *tab, struct uregs *regs, struct tracepoint **tp);

/* A thread has executed a trap instruction at addr: is it that of the code of a
 * site?  Its registers are those at *tp then, but for the pc. */
bool resume_stub_trap(
    struct tptable *tab, uint64_t addr, struct tracepoint **tp);

/* A thread has executed a trap instruction at addr: is it in ask() of the code
 * of a site?  Then its tracepoint, else NULL. */
struct tracepoint *resume_stub_asks(struct tptable *tab, uint64_t addr);

/* Is pc at an instruction of such code that faults where the thread has no lane? */
bool resume_stub_faults(struct tptable *tab, uint64_t pc);

/* The code of a site shares a function with others (run() of inject/stub.h).  If pc is in
 * it, and not in the middle of a firing, `sp' is the stack pointer there, and this is
 * where it returns to, in the code of its site; else it is pc itself.  The functions
 * below are asked about that. */
uint64_t resume_stub_pc(struct tptable *tab, uint64_t pc, uint64_t sp);
/* The text address for the pc of a thread with this stack pointer, by both functions.
 * tab may be NULL: it is pc itself then. */
uint64_t resume_thread_pc(struct tptable *tab, uint64_t pc, uint64_t sp);
/* Is pc in such a function, wherever? */
bool resume_stub_shared(struct tptable *tab, uint64_t pc);

/* The tracepoint in the code of whose site pc is; NULL: in none. */
struct tracepoint *resume_stub_at(struct tptable *tab, uint64_t pc);

/* The addresses in the text at which a thread with its pc in such code may go on:
 * its displaced instructions, and the one behind them.  Returns how many are in
 * *at; 0 outside.  resume_stub_onto() is the other code to which it goes on; 0:
 * none. */
unsigned resume_stub_leads(
    struct tptable *tab, uint64_t pc, const uint64_t **at);
uint64_t resume_stub_onto(struct tptable *tab, uint64_t pc);

/* The address in the text that corresponds to pc, for unwinders.  Inside a slot
 * it is tp->addr, or the next instruction if the effect is complete (a thread
 * in a system call made from a slot); else pc itself.  The si_addr of SIGILL,
 * SIGFPE and SIGTRAP is a pc too: code that delivers these signals must
 * translate it here, so that a handler sees no slot. */
uint64_t resume_text_pc(struct tptable *tab, uint64_t pc);

/* Is the jump or call at tp taken with these registers?  Then *to is its
 * target.  False if it is not taken, if its target cannot be read, and if the
 * instruction is neither. */
bool resume_branch_goes(struct tptable *tab, struct tracepoint *tp,
    const struct uregs *regs, uint64_t *to);

#endif
