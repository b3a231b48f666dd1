/*
 * Tells the profile provider which threads are running on processors.
 *
 * Shortly before a sample is due, the tracer looks which threads run on which
 * processor and moves to one of these processors.  The timer then interrupts
 * the thread that runs there, and that thread can be stopped where it was.
 * Processors take turns: if `turns' of them are in use, there are `turns'
 * samples a period, each on one of them.  oncpu.c gives the reason.
 */
#ifndef TRACER_FIRE_ONCPU_H
#define TRACER_FIRE_ONCPU_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "dlang/base/vec.h"

struct state;
struct thread;

/* How long before the sample, in ns: time for the look and the migration. */
#define ONCPU_LEAD 150000ULL

struct oncpu {
	int cpu;          /* the processor whose turn it is; -1: all at once */
	unsigned turns;   /* number of processors that take turns, at least 1 */
	unsigned waiting; /* oncpu_look() calls without their oncpu_find() */
	uint64_t looks;   /* counts oncpu_look() calls, from 1 */
	cpu_set_t busy;   /* processors in use at the last one */
	uint64_t used;    /* the tracer's own processor time at the end of it,
			   * ns */
};

/* A runnable thread.  If it ran until the tracer came, it has waited for a
 * processor no longer than `late' (ns) by now. */
struct oncpu_thread {
	struct thread *thread;
	uint64_t late;
};

/* `late' of a thread on another processor, where the tracer did not come: more
 * than the time from a timer's signal to the sample. */
#define ONCPU_LATE 500000ULL

typedef VEC(struct oncpu_thread) oncpu_threads;

/* Find the running threads and move to a processor.  `period' (ns) is the time
 * between two turns of a processor; if it is too short, processors do not take
 * turns.  While another call waits for its turn, this one uses the same
 * processor. */
void oncpu_look(struct state *st, uint64_t period);

/* Call it ONCPU_LEAD later: appends the threads to sample now. */
void oncpu_find(struct state *st, oncpu_threads *out);

/* The thread was asked to stop for a sample (or has stopped): until it stops it
 * counts as using a processor. */
void oncpu_owes(struct thread *th, bool owes);

#endif
