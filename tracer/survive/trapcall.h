/*
 * Answers the program's own rt_sigaction(SIGTRAP) while dtrap's handler is
 * installed.  The kernel keeps dtrap's action all the time.  The program's
 * action is recorded (trapaction.c); the program sees it when it asks, and
 * dtrap's handler performs it (inject/trap/handler.c).
 */
#ifndef TRACER_SURVIVE_TRAPCALL_H
#define TRACER_SURVIVE_TRAPCALL_H

#include <stdbool.h>

struct thread;
struct uregs;

/* The thread is at a marker of sigwatch.c, about to make the call, with these
 * registers.  True: the call has been answered; the registers are those after
 * it, except the pc.  False: it will be answered at its entry stop. */
bool trapcall_hit(struct thread *th, struct uregs *regs);

/* The same for rt_sigprocmask() with a mask that the kernel must not get
 * (sigtrap_mask_plan()).  False: the kernel makes the call. */
bool trapcall_mask(struct thread *th, struct uregs *regs);

/*
 * At the entry stop or the filter's stop of a system call: if it is
 * rt_sigaction(SIGTRAP), answer it; the kernel makes no call.  That for another
 * signal is noted.  If a filter of
 * the program will still check the call, it must be a valid one: the kernel
 * then makes it with two NULL pointers, which changes nothing, and
 * trapcall_leave() restores its registers and sets its result.  (If the tracer
 * dies or detaches in between, the call succeeds, and rsi and rdx are 0 after
 * it.)
 */
void trapcall_enter(struct thread *th);

/* At the exit stop of any system call. */
void trapcall_leave(struct thread *th);

#endif
