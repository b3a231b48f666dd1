/*
 * The handler of SIGTRAP that a target has for the time when we have been
 * killed (inject/trap/): when it is installed, when it gets out of the way.
 *
 * A program that sets, or only asks for, its action on SIGTRAP finds what it
 * left there: ours is taken away just before, and does not come back.  One that
 * ignores SIGTRAP keeps that, as an exec inherits it.
 */
#ifndef TRACER_TRAPGUARD_H
#define TRACER_TRAPGUARD_H

#include <stdbool.h>
#include <stdint.h>

struct proc;
struct space;
struct thread;

/*
 * [start, start + size) is the area of one who was killed.  If a process's
 * handler of SIGTRAP is in it, the action that this stands for is put back.
 * False: it cannot be.  Its threads are stopped.
 */
bool trapguard_inherit(struct proc *p, uint64_t start, uint64_t size);

/* An int3 is about to be written, near `near'.  All threads of the space are
 * stopped.  Does nothing where it has been done, or cannot be. */
void trapguard_begin(struct space *sp, uint64_t near);

/* A program that was starting (space->starting) has started: without a probe it
 * needs no handler. */
void trapguard_started(struct space *sp);

/* A process is let go, or is about to look at the action itself: its own
 * again.  Its threads are stopped. */
void trapguard_end(struct proc *p);

/* The kernel has made the action SIG_DFL for an int3 that came while SIGTRAP
 * was blocked.  Puts ours back; not at every hit of a thread that blocks it,
 * which our handler could not help anyway. */
void trapguard_lost(struct thread *th);

#endif
