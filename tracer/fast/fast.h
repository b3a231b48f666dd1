/*
 * The memory of ours in which clauses run inside a target: the thread store, the
 * VM and the image, mapped into an address space under option fastpath; and whose
 * lane is whose.
 *
 *	fast_space	all of it is there, or it says why not: then everything goes
 *			by trap
 *	fast_lane	a thread's, given when it fires for the first time, and by
 *			fast_begins() when it has been made by one that has one
 *	fast_ends	taken back
 *	fast_release	unmapped, when no thread is in it
 *
 * A thread that is stopped in the middle of a firing cannot be led out of it: it
 * runs on an own stack.  What must not come before its end is kept until the thread
 * traps there.
 */
#ifndef TRACER_FAST_FAST_H
#define TRACER_FAST_FAST_H

#include <stdbool.h>
#include <stdint.h>

#include "dlang/vm/store.h"

struct event;
struct fast;
struct proc;
struct space;
struct state;
struct str;
struct stub_world;
struct thread;

/* Does the option ask for it, and is the trace one in which it may be?  Once the
 * consumer is there: of the run's image, and with the sizes that a process may
 * have. */
void fast_start(struct state *st, const struct region *image,
    const struct store_sizes *whole);
void fast_end(struct state *st);
bool fast_is_on(const struct state *st);
/* What is enabled, as fast_start() was told. */
struct region fast_image(const struct state *st);

/* All threads are stopped.  True: the memory is there, and the image is as it is
 * now. */
bool fast_space(struct state *st, struct space *sp);
/* May some hits of a thread come by trap before it is there?  Not if there are
 * variables of threads, which would be in two places. */
bool fast_may_wait(const struct state *st);
/* Why it is not, in one phrase. */
const char *fast_why(const struct space *sp);
/* What code at sites goes by; NULL: there is no memory. */
const struct stub_world *fast_world(const struct space *sp);
/* Can the time be read inside? */
bool fast_has_clock(const struct space *sp);

/* For the consumer: a barrier in every thread that may fire inside; NULL: none
 * does. */
void (*fast_barrier(const struct state *st))(void);

void fast_set_activity(struct state *st, enum activity a);

/* The lane of a stopped thread, which fires in it; NULL: it has none. */
const struct lane_view *fast_lane(struct state *st, struct thread *th);
/* At the first stop of a thread: what it has of its maker's is not its own. */
void fast_begins(struct state *st, struct thread *th);
/* It has fired for the last time. */
void fast_ends(struct state *st, struct thread *th);

/* What has fired at the site addr does not fire at its next hit there with this stack
 * pointer, inside or by trap; is this one that does not?  False: the thread has no
 * lane to note it in. */
bool fast_skip(struct thread *th, uint64_t addr, uint64_t stack);
bool fast_skips(struct thread *th, uint64_t addr, uint64_t stack);

/* Is a stopped thread in the middle of a firing? */
bool fast_fires(struct thread *th);
/* It is to trap at the end.  A signal that is to be delivered is kept until then. */
void fast_call(struct thread *th);
void fast_hold_signal(struct thread *th);
/* It has trapped: because it was called?  No longer, then. */
bool fast_was_called(struct thread *th);
/* The signals that were kept: the first is delivered when the thread is resumed,
 * the others after it.  False: there are none. */
bool fast_let_signals(struct thread *th);

/* Is a thread of the process in the middle of a firing, all of them stopped?  It
 * will soon be out of it. */
bool fast_in_use(struct proc *p);
/* The process is let go, with all threads stopped and none in the code of a site:
 * false: some of it is still needed, and stays. */
bool fast_release(struct state *st, struct proc *p);
/* The memory has gone, or belongs to nobody. */
void fast_space_ends(struct state *st, struct space *sp);

/* A hit was made by trap. */
void fast_trapped(struct state *st);
/* A place had a jump (NULL), or none for this reason. */
void fast_note(struct state *st, const char *why);
/* Hits and places so far, a line for each reason. */
void fast_report(const struct state *st, struct str *text);

#endif
