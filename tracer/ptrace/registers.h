/*
 * The registers of a stopped thread, its debug register among them.  Only
 * registers.c writes this; whoever has got the registers from thread_regs() may
 * change them, and says so.
 *
 *	REGS_UNKNOWN --thread_regs(): fetched-----> REGS_KNOWN
 *	REGS_KNOWN --thread_regs_dirty(), _moved()-> REGS_CHANGED
 *	REGS_KNOWN, REGS_CHANGED --regs_write_back(), before it runs-> REGS_UNKNOWN
 *	any --regs_begin(): it has stopped again---> REGS_UNKNOWN
 */
#ifndef TRACER_PTRACE_REGISTERS_H
#define TRACER_PTRACE_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "dlang/uregs.h"

struct thread;

enum regs_state {
	REGS_UNKNOWN, /* `user' does not hold this stop's registers */
	REGS_KNOWN,   /* it does, as the kernel has them */
	REGS_CHANGED, /* it is what the thread goes on with, and is written
		       * before it does */
};

struct registers {
	enum regs_state state;
	bool into_slot; /* what they say is to be run in a slot */
	struct uregs user;
	uint64_t kernel_pc; /* what the kernel has for their pc */
	uint64_t watch;     /* thread_watch()'s address; 0: none */
};

/* The registers of a stopped thread: fetched once a stop.  NULL when the
 * thread has gone. */
struct uregs *thread_regs(struct thread *th);
/* The same if they have been fetched, else NULL. */
const struct uregs *thread_regs_had(const struct thread *th);

/* Where it is, or will come back to from the kernel, and its stack pointer.  0;
 * -EAGAIN when that cannot be told.  Nowhere (0) when it has ended. */
int thread_pc(struct thread *th, uint64_t *pc, uint64_t *sp);

/* Those from UREG_FP on, fetched at each call.  False: it is not stopped. */
bool thread_fp_regs(struct thread *th, uint64_t fp[UREG_FP_COUNT]);

/* After changing what thread_regs() returned: write back before it runs. */
void thread_regs_dirty(struct thread *th);
/* Only the pc may differ from the stop's: they are, if it does. */
void thread_regs_moved(struct thread *th);
/* What they say now is to be run in a slot, or in the program's text.  (Not
 * whether they are to be written.) */
void thread_regs_lead(struct thread *th, bool into_slot);

/*
 * A stopped thread is to trap when it comes to addr, it alone and without a
 * change of text: by a debug register.  At most one address; 0 takes it back.
 * 0 or -errno, where the machine or another debugger leaves none.
 */
int thread_watch(struct thread *th, uint64_t addr);
/* At EV_TRAP: is it that trap, and no int3 or signal?  The address stays
 * watched. */
bool thread_at_watch(struct thread *th);
/* The kernel has forgotten the address: the thread has executed a program. */
void thread_watch_lost(struct thread *th);

/* A stop has begun. */
void regs_begin(struct thread *th);
/* What is known of them is so no longer. */
void regs_forget(struct thread *th);
/* The kernel gets what was changed.  Nothing is known of them then. */
void regs_write_back(struct thread *th);
/* They are `user' from now on, in this state, and their pc is the kernel's
 * kernel_pc. */
void regs_become(struct thread *th, const struct uregs *user,
    uint64_t kernel_pc, enum regs_state state);

#endif
