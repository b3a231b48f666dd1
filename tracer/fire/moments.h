/*
 * Subscriptions to the events of processes and threads (enum event_kind).
 *
 * A subscriber is called with the event from event_poll() while the thread is
 * stopped (except EV_GONE, when only the thread's struct is left).  It must not
 * resume the thread.  It is called
 *
 *   - for EV_FORK, EV_VFORK, EV_CLONE while `child' exists, before it is
 *     detached or cleaned;
 *   - for EV_STOP with `first' set before a new thread has run an instruction,
 *     after the event that named it as `child';
 *   - for EV_EXEC when the objects of the new memory are known; for a program
 *     that dtrap itself has launched only when the trace begins there;
 *   - for EV_SIGNAL when the registers are the program's own (not in a slot),
 *     also for the program's own SIGTRAP; the signal is delivered when the
 *     thread is resumed;
 *   - for EV_EXIT while the memory still exists.
 *
 * For system calls see syscalls.h.
 */
#ifndef TRACER_FIRE_MOMENTS_H
#define TRACER_FIRE_MOMENTS_H

#include "dlang/base/vec.h"
#include "tracer/ptrace/event.h"

struct state;

typedef void (*moment_fn)(struct state *st, const struct event *ev, void *arg);

struct moment_sub {
	moment_fn fn;
	void *arg;
};

struct moments {
	VEC(struct moment_sub) of[EV_GONE + 1];
};

/* Call fn(st, ev, arg) at every such event, in the order of subscription,
 * until the end of the run. */
void moments_subscribe(
    struct state *st, enum event_kind kind, moment_fn fn, void *arg);

/* The loop calls it: call the subscribers of an event. */
void moments_tell(struct state *st, const struct event *ev);

void moments_fini(struct moments *m);

#endif
