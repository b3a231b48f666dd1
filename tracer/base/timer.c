/*
 * Timers; see timer.h.
 *
 * The kernel's timer raises SIGALRM, whose handler (loop.c) only makes the
 * loop look here.  A deadline that was missed by more than a period fires once
 * and the schedule goes on from now: a stopped laptop does not owe a million
 * ticks.
 */
#include "tracer/base/timer.h"

#include <signal.h>

#include "dlang/base/clock.h"
#include "dlang/base/mem.h"

uint64_t
timer_now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

void
timer_add(struct timers *ts, uint64_t period, timer_fn fn, void *arg)
{
	*vec_push(&ts->list) = (struct timer){
		.period = period,
		.next = timer_now() + period,
		.fn = fn,
		.arg = arg,
	};
	ts->armed_for = 0;
}

void
timer_set_period(struct timers *ts, timer_fn fn, void *arg, uint64_t period)
{
	vec_foreach(t, &ts->list) {
		if (t->fn != fn || t->arg != arg || t->period == period)
			continue;
		/* 0: never, until it is changed again.  A call that is due already
		 * stays so. */
		if (period == 0)
			t->next = UINT64_MAX;
		else if (t->period == 0)
			t->next = timer_now() + period;
		else if (t->next > t->period)
			t->next += period - t->period;
		t->period = period;
		ts->armed_for = 0;
	}
}

void
timer_set_next(struct timers *ts, timer_fn fn, void *arg, uint64_t next)
{
	vec_foreach(t, &ts->list)
		if (t->fn == fn && t->arg == arg)
			t->next = next;
	ts->armed_for = 0;
}

static void
arm(struct timers *ts, uint64_t deadline)
{
	struct itimerspec its = { 0 };

	if (!ts->created) {
		struct sigevent ev = {
			.sigev_notify = SIGEV_SIGNAL,
			.sigev_signo = SIGALRM,
		};
		if (timer_create(CLOCK_MONOTONIC, &ev, &ts->id) != 0)
			base_panic("cannot create a timer");
		ts->created = true;
	}
	its.it_value.tv_sec = (time_t)(deadline / NS_PER_S);
	its.it_value.tv_nsec = (long)(deadline % NS_PER_S);
	timer_settime(ts->id, TIMER_ABSTIME, &its, NULL);
	ts->armed_for = deadline;
}

void
timers_run(struct timers *ts, struct state *st)
{
	if (ts->list.len == 0)
		return;

	uint64_t now = timer_now(), first = UINT64_MAX;
	/* By index: a callback may add timers. */
	for (size_t i = 0; i < ts->list.len; i++) {
		struct timer *t = &ts->list.at[i];
		if (t->next <= now) {
			uint64_t late = now - t->next;
			t->next += t->period;
			if (t->next <= now)
				t->next = now + t->period;
			t->fn(st, t->arg, late);
			t = &ts->list.at[i];
		}
		first = MIN(first, t->next);
	}
	/* A deadline that passed meanwhile is still armed: an absolute time in
	 * the past fires at once. */
	if (ts->armed_for != first && (ts->created || first != UINT64_MAX))
		arm(ts, first);
}

void
timers_run_at(struct timers *ts, struct state *st, uint64_t now)
{
	for (;;) {
		struct timer *due = NULL;

		vec_foreach(t, &ts->list)
			if (t->next <= now &&
			    (due == NULL || t->next < due->next))
				due = t;
		if (due == NULL)
			return;
		due->next += due->period;
		due->fn(st, due->arg, 0);
	}
}

void
timers_fini(struct timers *ts)
{
	if (ts->created)
		timer_delete(ts->id);
	vec_fini(&ts->list);
	*ts = (struct timers){ 0 };
}
