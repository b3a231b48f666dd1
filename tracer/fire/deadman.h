/*
 * The deadman (option maxload): if hits take more than a set share of the time,
 * the most expensive probes are removed, one after another, until the rest is
 * below the limit.
 *
 * The cost of a hit is the time from the moment when its stop is picked up
 * until the thread continues, plus the context switches there and back.  These
 * are estimated by the shortest time that was seen, and counted only if no
 * other thread was handled in between.  Other work of the tracer while stops
 * wait (printing, for example) is charged to all probes.
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
	bool due;       /* it is time for deadman_judge() */
	unsigned taken; /* number of removed probes */

	/* The stop that is being handled. */
	VEC(struct probe *) fired;
	uint64_t woken; /* when it was picked up */
	bool waited;    /* the tracer had nothing to do before it */
	/* The previous stop: its thread (only compared), and when it ended. */
	const struct thread *last;
	uint64_t resumed;
	uint64_t way; /* the shortest time from resuming a thread to its next
		       * stop */

	/* Nanoseconds of about the last second; older time counts less. */
	double elapsed;
	double calls; /* stops at system calls without a subscriber */
	double other; /* work while stops were waiting */
	VEC(struct probe *) costly; /* probes with a cost */

	uint64_t looked;      /* when the last tick was */
	double since;         /* ns that hits took since then */
	unsigned ticks, over; /* all since the start; consecutive ones above the
			       * limit */
};

/* Start measuring, if the option is set. */
void deadman_start(struct state *st);
void deadman_fini(struct state *st);

/* The loop calls these.  event_poll() has returned; ev is NULL if there is no
 * event.  `waited': it had to wait. */
void deadman_woken(struct state *st, const struct event *ev, bool waited);
/* The event is going to be handled now. */
void deadman_begin(struct state *st);
/* The event has been handled; its thread may be gone. */
void deadman_end(struct state *st, const struct event *ev);
/* Between events: remove probes if the limit is exceeded. */
void deadman_judge(struct state *st);

/* A probe fires in the current stop. */
void deadman_fired(struct state *st, struct probe *p);

/* Print how many probes were removed. */
void deadman_report(struct state *st);

#endif
