/*
 * Calls that a stop of ours would end: each is made again (restart.c says why,
 * and which).  What is known of a thread's; only restart.c writes this.
 *
 *	no call --broken off by a stop: made again, from `first' on--> a chain
 *	a chain --broken off once more, at the same place------------> longer
 *	        --it has a time, and the loop sees to it-------------> due
 *	due     --restart_left()-------------------------------------> a chain
 *	a chain --its time is over: it ends--------------------------> no call
 */
#ifndef TRACER_PTRACE_RESTART_H
#define TRACER_PTRACE_RESTART_H

#include <stdbool.h>
#include <stdint.h>

struct thread;

struct restart {
	bool continued;      /* the stop is the end of a group-stop */
	uint64_t ip, sp;     /* where it was made again last; ip 0: no call */
	int64_t first, last; /* of the chain's stops, ms */
	int64_t due;         /* when its time is over, where that is before the
		      * kernel's: the tracer ends it then; 0: it does not */
};

/* Before the thread leaves a stop: a call that was interrupted, which the program
 * is not to know, is made again. */
void thread_restart_call(struct thread *th);
/* The same for one that it is about to make, when it is let go: it makes it anew,
 * unless a filter looks. */
void thread_put_off_call(struct thread *th);
/* Is it in front of a call which would end at once if it were let go now, and
 * which cannot be put off? */
bool thread_must_enter(struct thread *th);
/* Does a filter of system calls look at the call after us?  It would see the
 * number that stands for no call, too, and refuse it or kill. */
bool thread_filter_looks(const struct thread *th);

/* An event-stop: of a group-stop that has ended, or another. */
void restart_event_stop(struct thread *th, bool continued);
/* It has left the call. */
void restart_left(struct thread *th);

#endif
