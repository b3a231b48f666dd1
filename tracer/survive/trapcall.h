/*
 * A program's own rt_sigaction(SIGTRAP), while our handler stands in the kernel:
 * we answer it.  The kernel's action stays ours all the time; the program's is
 * in struct proc, is what it is told when it asks, and what our handler hands
 * on to (inject/trap/handler.c).
 */
#ifndef TRACER_SURVIVE_TRAPCALL_H
#define TRACER_SURVIVE_TRAPCALL_H

#include <stdbool.h>

struct thread;
struct uregs;

/* The thread is at a marker of sigwatch.c and about to make the call, with these
 * registers.  True: it has been answered, the registers are those behind it, but
 * for the pc.  False: at its entry. */
bool trapcall_hit(struct thread *th, struct uregs *regs);

/* The same of rt_sigprocmask(), where the kernel is not to have the mask
 * (sigtrap_mask_plan()). */
enum trapcall_mask {
	MASK_KERNELS,  /* the kernel is to make the call */
	MASK_MADE,     /* it has been made; the registers are those behind it */
	MASK_AT_ENTRY, /* trapcall_mask_enter() makes it: system calls are
			* traced, and who traces them is to see it */
};
enum trapcall_mask trapcall_mask(struct thread *th, struct uregs *regs);

/* At the entry of it.  False: the kernel is to make it. */
bool trapcall_mask_enter(struct thread *th);

/*
 * At the entry of a system call, or the stop of a filter there: if it is that
 * one it is answered, and the kernel makes none.  Where a filter of the program's
 * is still to look at it, it has to be a call that the filter knows: it is made
 * with neither action, which changes nothing, and trapcall_leave() has its
 * registers back and its result.  (Would we die between, or let go, it succeeds,
 * and rsi and rdx are 0 behind it.)
 */
void trapcall_enter(struct thread *th);

/* At the end of any system call. */
void trapcall_leave(struct thread *th);

#endif
