/*
 * The deadman (option maxload): when the hits of probes take more than a set
 * share of the time, the probes that take most are taken out, the worst first,
 * until the rest is below it.
 *
 * A hit takes from the moment when its thread's stop is picked up until the
 * thread is let go; and the way there and back, if meanwhile nobody else was
 * looked after, which is taken to be the shortest way that was seen.  What the
 * tracer does while stops are waiting (printing, say) is on everybody's
 * account.
 */
#ifndef TRACER_FIRE_DEADMAN_H
#define TRACER_FIRE_DEADMAN_H

#include <stdbool.h>
#include <stdint.h>

#include "dlang/base/vec.h"

struct event;
struct probe;
struct state;
struct thread;

struct deadman {
	bool on;
	bool due;       /* it is time to judge */
	unsigned taken; /* probes that are out */

	/* The stop that is being handled. */
	VEC(struct probe *) fired;
	uint64_t woken; /* when it was picked up */
	bool waited;    /* nothing was to be done before */
	/* The one before: whose it was (only compared), when it ended. */
	const struct thread *last;
	uint64_t resumed;
	uint64_t way; /* the shortest from there to that thread's next stop */

	/* Nanoseconds of the last second or so; what is older counts less. */
	double elapsed;
	double calls; /* stops at system calls that nobody asked for */
	double other; /* work while stops were waiting */
	VEC(struct probe *) costly; /* those with a cost */

	uint64_t looked;      /* when the last tick was */
	double since;         /* ns that hits took since then */
	unsigned ticks, over; /* since the start; on end with too much */
};

/* Begin, if the option is set. */
void deadman_start(struct state *st);
void deadman_fini(struct state *st);

/* For the loop.  event_poll() has returned; ev is NULL when it has no event.
 * `waited': there was none to be had at once. */
void deadman_woken(struct state *st, const struct event *ev, bool waited);
/* Its turn comes now, after what else was due. */
void deadman_begin(struct state *st);
/* It has been handled: of this kind, and of a thread that may be gone. */
void deadman_end(struct state *st, const struct event *ev);
/* With no event in hand: take out what is too much. */
void deadman_judge(struct state *st);

/* A probe fires in the stop that is being handled. */
void deadman_fired(struct state *st, struct probe *p);

/* Say how many are out. */
void deadman_report(struct state *st);

#endif
