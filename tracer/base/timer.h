/*
 * Timers for tick and profile probes, and for the rates of the consumer.  One
 * POSIX timer sends a signal at the earliest deadline.  Each deadline is one
 * period after the last one, so schedules do not drift; only after a delay of
 * more than a period a schedule begins anew.
 */
#ifndef TRACER_BASE_TIMER_H
#define TRACER_BASE_TIMER_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "dlang/base/vec.h"

struct state;

typedef void (*timer_fn)(struct state *st, void *arg, uint64_t late_ns);

struct timer {
	uint64_t period; /* ns */
	uint64_t next;   /* CLOCK_MONOTONIC, ns */
	timer_fn fn;
	void *arg;
};

struct timers {
	VEC(struct timer) list;
	timer_t id;
	bool created;
	uint64_t armed_for; /* deadline the kernel's timer is set to; 0: none */
};

/* CLOCK_MONOTONIC in nanoseconds. */
uint64_t timer_now(void);

/* Call fn every `period' ns from now on, first one period from now. */
void timer_add(struct timers *ts, uint64_t period, timer_fn fn, void *arg);

/* Change the period of the timer of (fn, arg): its next call is one new period
 * after its last deadline. 0: it is not called until its period is set again.
 * Nothing happens if there is no such timer. */
void timer_set_period(
    struct timers *ts, timer_fn fn, void *arg, uint64_t period);

/* The timer of (fn, arg) is called next at time `next', then with its
 * period. */
void timer_set_next(struct timers *ts, timer_fn fn, void *arg, uint64_t next);

/* Call the timers that are due, with the time since their deadline (late_ns),
 * and set the kernel's timer for the next deadline. If several deadlines of one
 * timer have passed, it is called once. */
void timers_run(struct timers *ts, struct state *st);

/* The same for a run whose time is not that of the clock: call the timers that
 * are due at `now', in the order of their deadlines, each as often as it is due,
 * and set no timer of the kernel. */
void timers_run_at(struct timers *ts, struct state *st, uint64_t now);

void timers_fini(struct timers *ts);

#endif
