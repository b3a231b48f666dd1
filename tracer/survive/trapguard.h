/*
 * The handler for SIGTRAP in a target (inject/trap/), which works after the
 * tracer was killed: installs it, keeps it installed, and removes it.
 *
 * It is installed as long as text is changed, whatever action the program
 * itself sets for SIGTRAP.  That action is recorded, and the handler performs
 * it for the program's own SIGTRAPs.  trapcall.h answers the program's calls;
 * trapguard_check() notices a call that was not seen.
 */
#ifndef TRACER_SURVIVE_TRAPGUARD_H
#define TRACER_SURVIVE_TRAPGUARD_H

#include <stdbool.h>
#include <stdint.h>

#include "tracer/ptrace/proc.h"

/*
 * [start, start + size) is the area of a killed tracer.  If the process's
 * handler for SIGTRAP is in it, restore the program's own action.  False: that
 * failed.  All threads must be stopped.
 */
bool trapguard_inherit(struct proc *p, uint64_t start, uint64_t size);

/*
 * Text is about to be changed, near `near'.  All threads of the space must be
 * stopped.  0: the area, the handler in every process and the guardian are set
 * up and known to work.  Otherwise a negative errno, and *why names the one
 * that failed.  -EFAULT: the area is gone; a new one is made only if the text
 * has no int3 (`bare').
 */
int trapguard_begin(
    struct space *sp, uint64_t near, bool bare, const char **why);

/* May this error of trapguard_begin() go away by itself? */
bool trapguard_may_pass(int error);

/* A process is being detached: restore its own action.  Its threads must be
 * stopped. */
void trapguard_end(struct proc *p);

/* Record a new action of the program; th is a stopped thread of it. */
void trapguard_becomes(struct thread *th, const uint64_t action[ACTION_WORDS]);

/* Is addr in dtrap's handler? */
bool trapguard_is_handler(const struct proc *p, uint64_t addr);

/* A SIGTRAP of the program's own is about to be delivered; with SA_RESETHAND
 * that changes the program's action. */
void trapguard_delivers(struct thread *th);

/*
 * Call it last, before thread_resume() with such a SIGTRAP.  If an int3 of
 * another thread may set the kernel's action to SIG_DFL at any time, which
 * would then kill the process, the signal is delivered here, while all other
 * threads are stopped and dtrap's action is installed.
 */
void trapguard_pass(struct thread *th);

/* A thread is stopped at EV_EXEC: let the new program ignore SIGTRAP if the old
 * one did; the kernel had dtrap's handler instead. */
void trapguard_executed(struct thread *th);

/* Called now and then at a hit: is dtrap's handler still installed?  False: it
 * was missing for some time (super->unguarded counts this), and is installed
 * again; the program's action is known again. */
bool trapguard_check(struct thread *th);

/* The kernel has set the action to SIG_DFL because of an int3 while SIGTRAP was
 * blocked.  Installs dtrap's action again; not in a vfork child, which blocks
 * all signals, asks for all actions (posix_spawn()), and soon executes another
 * program. */
void trapguard_lost(struct thread *th);

#endif
