/*
 * A thread ran into an int3: whose it is, who wants to know, how it goes on.
 */
#ifndef TRACER_FIRE_HIT_H
#define TRACER_FIRE_HIT_H

#include <stdbool.h>

struct state;
struct thread;

/*
 * Handle EV_TRAP.  True: the thread is ready to be resumed (its registers are
 * set, or the signal is the program's own and will be delivered).  False: it
 * is being kept (a launched process reached the place it was awaited at).
 */
bool hit_trap(struct state *st, struct thread *th);

/*
 * A signal is about to be delivered to a thread that may be in a slot: the
 * program must see the place in its own text.
 */
void hit_signal(struct state *st, struct thread *th);

/* A thread came to where its thread_watch() waits. */
typedef void (*watch_fn)(struct state *st, struct thread *th);
/* Who is to be told of that.  False: somebody is already. */
bool hit_tell_watch(struct state *st, watch_fn fn);

#endif
