/*
 * A launched program that is executed again before the trace begins; evaltime.c
 * says why.
 *
 *	once    --twice_plan()-----------------------------> planned
 *	planned --twice_begin(): the next call is execve()-> begins
 *	any     --twice_not(); execve() has failed---------> once
 */
#ifndef TRACER_DRIVE_TWICE_H
#define TRACER_DRIVE_TWICE_H

#include <stdbool.h>

struct event;
struct proc;
struct state;
struct thread;

/* At the first exec stop: find the arguments of the second execve(); `words' is
 * the number of arguments.  False: it cannot be made. */
bool twice_plan(struct thread *th, unsigned words);
bool twice_is_planned(const struct proc *p);
/* The next system call of the thread becomes that execve(). */
void twice_begin(struct thread *th);
/* Do not execute the program again: it goes on from where it is. */
void twice_not(struct proc *p);

/* True if this system-call stop belongs to a launch in progress; then the
 * caller must not handle it. */
bool twice_syscall(struct state *st, const struct event *ev);

#endif
