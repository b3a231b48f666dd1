/*
 * A thread has executed an int3: find its tracepoint, fire its probes, compute
 * how the thread goes on.  The event loop calls it.
 */
#ifndef TRACER_FIRE_HIT_H
#define TRACER_FIRE_HIT_H

#include <stdbool.h>

struct state;
struct thread;

/*
 * Handle EV_TRAP.  True: the thread is ready to be resumed; its registers are
 * set, or the signal is the program's own and will be delivered.  False: the
 * thread must stay stopped (a launched process has reached the point where it
 * is awaited).
 */
bool hit_trap(struct state *st, struct thread *th);

/* At EV_TRAP: does a clause that runs in the thread ask for memory?  Then it has
 * its answer, and the thread can be resumed. */
bool hit_asks(struct state *st, struct thread *th);

/*
 * Call it before a signal is delivered to a thread that may be in a slot: moves
 * the thread to the corresponding place in the program's text.
 */
void hit_signal(struct state *st, struct thread *th);

/* Is the signal in delivery a fault of the code of a site, which has found no lane?
 * Then the thread is at the site, which has its int3 again, and there is no signal
 * any more. */
bool hit_finds_no_lane(struct thread *th);

/* A thread came to where its thread_watch() waits. */
typedef void (*watch_fn)(struct state *st, struct thread *th);
/* Who is to be told of that.  False: somebody is already. */
bool hit_tell_watch(struct state *st, watch_fn fn);

/* Who is to be told of a thread that has stopped for watches on data
 * (datawatch.h); one for the run. */
void hit_tell_data(struct state *st, watch_fn fn);

#endif
