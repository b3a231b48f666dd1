/*
 * The handler of SIGTRAP that a target has for the time when we have been
 * killed (inject/trap/): when it is installed, how it stays, when it goes.
 *
 * It stands in the kernel as long as text is changed, whatever the program does
 * with SIGTRAP itself: that is recorded (trap_... of struct proc), and what is
 * the program's is handed on to it.  Its calls are answered by us (trapcall.h).
 * One that is made in a way that nobody sees is found out by trapguard_check().
 */
#ifndef TRACER_SURVIVE_TRAPGUARD_H
#define TRACER_SURVIVE_TRAPGUARD_H

#include <stdbool.h>
#include <stdint.h>

#include "tracer/ptrace/proc.h"

/*
 * [start, start + size) is the area of one who was killed.  If a process's
 * handler of SIGTRAP is in it, the action that this stands for is put back.
 * False: it cannot be.  Its threads are stopped.
 */
bool trapguard_inherit(struct proc *p, uint64_t start, uint64_t size);

/*
 * Text is about to be changed, near `near'.  All threads of the space are
 * stopped.  0: the area that lists the changes, the handler in every process
 * and the guardian are there and known to work.  Else an errno, and *why says
 * which of them is not.  -EFAULT: the area is gone; another is made where no
 * int3 stands any more (`bare').
 */
int trapguard_begin(
    struct space *sp, uint64_t near, bool bare, const char **why);

/* Is that a matter of the moment? */
bool trapguard_may_pass(int error);

/* A process is let go: its own again.  Its threads are stopped. */
void trapguard_end(struct proc *p);

/* The program's own action is another from now on; th is stopped. */
void trapguard_becomes(struct thread *th, const uint64_t action[ACTION_WORDS]);

/* Is that an address of our handler's? */
bool trapguard_is_handler(const struct proc *p, uint64_t addr);

/* A SIGTRAP that is the program's own is about to be delivered: with
 * SA_RESETHAND that changes its action. */
void trapguard_delivers(struct thread *th);

/*
 * The last before thread_resume() with it: where an int3 of another thread may
 * make the kernel's action SIG_DFL at any time, the signal is delivered here and
 * now, while all others are stopped and ours is in place.  It would be the end.
 */
void trapguard_pass(struct thread *th);

/* A thread is stopped at EV_EXEC: the new program ignores SIGTRAP if the old one
 * did, in the place of which the kernel had our handler. */
void trapguard_executed(struct thread *th);

/* Now and then, at a hit: is our handler still there?  False: it was not, for
 * some time, which super->unguarded counts, and is back (process->guarded); the
 * program's action is known again. */
bool trapguard_check(struct thread *th);

/* The kernel has made the action SIG_DFL for an int3 that came while SIGTRAP
 * was blocked.  Puts ours back; not in a vfork child, which blocks everything
 * and asks for the action on every signal (posix_spawn()), and is gone soon. */
void trapguard_lost(struct thread *th);

#endif
