/*
 * The door for what happens to processes and threads: who wants to know of
 * which event.
 *
 * A subscriber is called with the event as event_poll() gave it, and its thread
 * stopped (but for EV_GONE, where nothing of it is left but its struct); it
 * does not resume it.  It is told
 *
 *   - EV_FORK, EV_VFORK, EV_CLONE while `child' exists, and before it is let go
 *     or cleaned;
 *   - EV_STOP with `first' set before a new thread has run an instruction,
 *     after the event that named it as a child;
 *   - EV_EXEC when the new memory has been looked at; of a program that dtrap
 *     has launched itself only when the trace begins there;
 *   - EV_SIGNAL with registers that are the program's own, also for its own
 *     SIGTRAP; the signal is delivered when the thread is resumed;
 *   - EV_EXIT with the memory as it was.
 *
 * System calls have a door of their own, syscalls.h.
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

/* For the loop. */
void moments_tell(struct state *st, const struct event *ev);

void moments_fini(struct moments *m);

#endif
