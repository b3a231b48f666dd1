/*
 * Which threads are on a processor, as the profile provider wants to know it.
 *
 * A moment before a sample is due the tracer looks who runs where and goes to
 * one of those processors; the timer then interrupts whoever runs there, and
 * that thread can be stopped where it was.  The processors take turns: with
 * `turns' of them in use a sample is due `turns' times a period, each time on
 * one of them.  See oncpu.c for the reason.
 */
#ifndef TRACER_FIRE_ONCPU_H
#define TRACER_FIRE_ONCPU_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "dlang/base/vec.h"

struct state;
struct thread;

/* How long before, in ns: the look itself, and the way there. */
#define ONCPU_LEAD 150000ULL

struct oncpu {
	int cpu;          /* whose turn it is; -1: everybody's at once */
	unsigned turns;   /* how many take turns, at least 1 */
	unsigned waiting; /* oncpu_look() calls without their oncpu_find() */
	uint64_t looks;   /* counts them, from 1 */
	cpu_set_t busy;   /* at the last one */
};

/* A thread that runs, and whether it is known to have been the one that had the
 * processor; else it may have waited for one. */
struct oncpu_thread {
	struct thread *thread;
	bool sure;
};

typedef VEC(struct oncpu_thread) oncpu_threads;

/* Look who runs, and go there.  `period', in ns, is how long each processor
 * waits for its turn; when it is too short for turns there are none.  While
 * another's turn is awaited it is this one's too. */
void oncpu_look(struct state *st, uint64_t period);

/* ONCPU_LEAD later: those to sample now, appended. */
void oncpu_find(struct state *st, oncpu_threads *out);

/* The thread owes a sample: it counts as one that uses a processor until it has
 * come to the stop that it was asked for. */
void oncpu_owes(struct thread *th, bool owes);

#endif
