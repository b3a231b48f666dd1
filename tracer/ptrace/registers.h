/*
 * The registers of a stopped thread, including a debug register.  Only
 * registers.c writes struct registers.  Other code may change the registers
 * that thread_regs() returns, and must then call thread_regs_dirty().
 *
 *	REGS_UNKNOWN --thread_regs(): fetched-----> REGS_KNOWN
 *	REGS_KNOWN --thread_regs_dirty(), _moved()-> REGS_CHANGED
 *	REGS_KNOWN, REGS_CHANGED --regs_write_back(), before it runs-> REGS_UNKNOWN
 *	any --regs_begin(): it has stopped again---> REGS_UNKNOWN
 *
 * They stay REGS_UNKNOWN if the thread is not at hand (thread_at_hand()).
 */
#ifndef TRACER_PTRACE_REGISTERS_H
#define TRACER_PTRACE_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "dlang/uregs.h"

struct thread;

enum regs_state {
	REGS_UNKNOWN, /* `user' is not valid */
	REGS_KNOWN,   /* `user' is the same as in the kernel */
	REGS_CHANGED, /* `user' was changed, and is written before the thread
		       * continues */
};

struct registers {
	enum regs_state state;
	bool into_slot; /* the thread will continue in a slot */
	struct uregs user;
	uint64_t kernel_pc; /* the pc in the kernel */
	uint64_t watch;     /* address of thread_watch(); 0: none */
	bool at_watch;      /* regs_at_watch() in this stop */
};

/* The registers of a stopped thread, fetched once a stop.  NULL if the thread
 * has ended, or is not at hand. */
struct uregs *thread_regs(struct thread *th);
/* The same if they have been fetched, else NULL. */
const struct uregs *thread_regs_had(const struct thread *th);

/* The pc of a thread, or the pc to which it will return from the kernel, and
 * its stack pointer.  0; -EAGAIN: unknown.  *pc is 0 if the thread has
 * ended. */
int thread_pc(struct thread *th, uint64_t *pc, uint64_t *sp);

/* The registers from UREG_FP on, fetched at each call.  False: the thread is
 * not stopped. */
bool thread_fp_regs(struct thread *th, uint64_t fp[UREG_FP_COUNT]);

/* The result of thread_regs() was changed: write it back before the thread
 * runs. */
void thread_regs_dirty(struct thread *th);
/* The same if only the pc may have been changed: they are written back if it
 * was. */
void thread_regs_moved(struct thread *th);
/* Note whether the thread will continue in a slot or in the program's text.  It
 * does not mark the registers as changed. */
void thread_regs_lead(struct thread *th, bool into_slot);

/*
 * Let this thread alone trap when it reaches addr, by a debug register, without
 * a change of text.  At most one address; addr 0 removes it.  0 or -errno, if
 * the machine has no debug register, or another debugger uses them.
 */
int thread_watch(struct thread *th, uint64_t addr);
/* At EV_TRAP: is it the trap of the debug register, or of a watch on data
 * (datawatch.h)?  The address stays watched. */
bool thread_at_watch(struct thread *th);
/* The thread has executed a program: the kernel has cleared the debug
 * register. */
void thread_watch_lost(struct thread *th);

/* The stop is for a watch, as thread_at_watch() says, and its signal has been taken
 * from the kernel. */
void regs_at_watch(struct thread *th);

/* A stop has begun. */
void regs_begin(struct thread *th);
/* Forget the registers. */
void regs_forget(struct thread *th);
/* Write changed registers to the kernel, and forget them. */
void regs_write_back(struct thread *th);
/* Set the registers, their state, and the kernel's pc. */
void regs_become(struct thread *th, const struct uregs *user,
    uint64_t kernel_pc, enum regs_state state);

#endif
