/*
 * Calls that a stop by dtrap would end: they are restarted (restart.c says why,
 * and which).  Only restart.c writes this.
 *
 *	no call --a stop interrupts the call; it is restarted-------> chain
 *	chain   --a stop interrupts it again at the same place------> chain
 *	        --it has a time limit, and super_time_calls() is on-> due
 *	due     --restart_left()------------------------------------> chain
 *	chain   --the time limit is over: the call ends-------------> no call
 */
#ifndef TRACER_PTRACE_RESTART_H
#define TRACER_PTRACE_RESTART_H

#include <stdbool.h>
#include <stdint.h>

struct thread;

struct restart {
	bool continued;      /* the stop is the end of a group-stop */
	uint64_t ip, sp;     /* pc and sp of the last restart; ip 0: no call */
	int64_t first, last; /* times of the chain's stops, ms */
	int64_t due; /* when the tracer ends the call, because its time limit is
		      * over before the kernel's restarted one; 0: never */
};

/* Call it before the thread leaves a stop: an interrupted call is restarted, so
 * that the program does not notice. */
void thread_restart_call(struct thread *th);
/* The same before a detach for a call that the thread is about to make: the
 * thread makes it again, unless a filter would see it. */
void thread_put_off_call(struct thread *th);
/* Is the thread in front of a call that would end at once if the thread were
 * detached now, and that cannot be put off? */
bool thread_must_enter(struct thread *th);
/* Will a seccomp filter see the call after the tracer?  It would also see the
 * number that means "no call", and refuse it or kill the thread. */
bool thread_filter_looks(const struct thread *th);

/* An event-stop has come; `continued': it is the end of a group-stop. */
void restart_event_stop(struct thread *th, bool continued);
/* The thread has left the call. */
void restart_left(struct thread *th);

#endif
