/*
 * Option fastpath: memory that dtrap maps into a target, in which clauses run
 * without a stop.  It contains the thread store, the VM and the image.  Each
 * thread that fires has a lane of the store (dlang/vm/lane.h).
 *
 *	fast_space	maps the memory into an address space; if that fails, all
 *			hits in the space stop the thread by an int3
 *	fast_begins	gives a thread a lane at its first stop
 *	fast_lane	gives it one when it fires, if it has none
 *	fast_ends	takes the lane back
 *	fast_release	unmaps the memory, if no thread uses it
 *
 * A firing is the time in which a thread runs clauses in its lane, on a stack
 * in the lane.  dtrap cannot move a thread out of a firing.  Signals that come
 * within one are kept, and the thread is asked to trap at its end
 * (fast_call()).
 */
#ifndef TRACER_FAST_FAST_H
#define TRACER_FAST_FAST_H

#include <stdbool.h>
#include <stdint.h>

#include "dlang/uregs.h"
#include "dlang/vm/store.h"

struct event;
struct fast;
struct proc;
struct space;
struct state;
struct str;
struct stub_body;
struct stub_world;
struct thread;

/* Is option fastpath not off, and option cpu not set, and may threads have lanes
 * (lanes_unfit of state.h)? */
bool fast_is_wanted(const struct state *st);
/* fast_is_wanted() is true.  Is the option auto? */
bool fast_is_auto(const struct state *st);
/* Call it when the consumer exists.  If fast_is_wanted(), fast_is_on() is true
 * afterwards.  `image' is the run's image,
 * `whole' the largest sizes that the store of one process may have.  What takes
 * a while is done before the first memory is mapped, with option auto. */
void fast_start(struct state *st, const struct region *image,
    const struct store_sizes *whole);
void fast_end(struct state *st);
bool fast_is_on(const struct state *st);
/* The image that fast_start() was given; fast_is_on() must be true. */
struct region fast_image(const struct state *st);

/* Map the memory, if it is not mapped yet.  Threads may run, and are stopped only
 * for system calls in one of them.  False: clauses cannot run there; if mapping
 * has failed once, it is not tried again. */
bool fast_map(struct state *st, struct space *sp);
/* All threads of the space are stopped.  The same; and copy the present image
 * into the memory, and give each thread its lane.  True if clauses can run
 * there. */
bool fast_space(struct state *st, struct space *sp);
/* Why clauses cannot run there, as a phrase for the user; NULL if they can. */
const char *fast_why(const struct space *sp);
/* The addresses that the code of sites refers to; NULL: no memory is mapped. */
const struct stub_world *fast_world(const struct space *sp);
/* Give a tracepoint in the space a row (struct jit_row), for the code of its site.
 * The code of the body is made if no other tracepoint has the same.  Call it once
 * before the code of the site is written.  body->row is 0 if the clause can have no
 * body.  fast_space() keeps the row up to date. */
void fast_body(const struct state *st, const struct space *sp, uint32_t tp_id,
    struct stub_body *body);
/* Can clauses that run in the target read the time? */
bool fast_has_clock(const struct space *sp);

/* For the consumer: a function that causes a memory barrier in every thread
 * that may fire in its lane.  NULL: fastpath is off, so no thread does. */
void (*fast_barrier(const struct state *st))(void);

/* Set the activity of the trace (begun, ended) in all memory that is mapped. */
void fast_set_activity(struct state *st, enum activity a);

/* The lane of a stopped thread, in which the tracer may fire now.  A thread
 * without a lane gets one if one is free, and its register UREG_LANE is set to
 * it; its thread-local variables go there.  NULL: it has no lane, or it is in the
 * middle of a firing there. */
const struct lane_view *fast_lane(struct state *st, struct thread *th);
/* The lane that a stopped thread has, also in the middle of a firing; NULL: none.
 * Nothing is given or changed. */
const struct lane_view *fast_firing(struct thread *th);
/* Call it at each stop of a thread: at the first one, the thread gets a lane of
 * its own.  Until then its UREG_LANE may be that of the thread that created
 * it. */
void fast_begins(struct state *st, struct thread *th);
/* The thread will not fire any more: take its lane back, and let the consumer
 * read what is left in it. */
void fast_ends(struct state *st, struct thread *th);

/* As fast_ends(), for a thread that has executed a program: the kernel has set its
 * UREG_LANE to 0.  Its thread-local variables stay: they go to the tracer's store,
 * and from there to its lane in the new memory. */
void fast_executed(struct state *st, struct thread *th);

/* Probes at the site addr have fired for this thread, and the same instruction
 * will be hit again with this stack pointer.  That hit must not fire, whether
 * it is made by a jump or by a trap.  False: the thread has no lane to note
 * that in. */
bool fast_skip(struct thread *th, uint64_t addr, uint64_t stack);
/* At a hit by trap: is it the one that must not fire?  The note is removed if
 * it is, or if `stack' is at or above the noted stack pointer. */
bool fast_skips(struct thread *th, uint64_t addr, uint64_t stack);

/* Until this is undone, all hits of the stopped thread are by trap. */
void fast_by_trap(struct thread *th, bool yes);

/* Is a stopped thread in the middle of a firing? */
bool fast_fires(struct thread *th);
/* Is a stopped thread on its lane's stack?  There only dtrap's code runs, and what
 * that calls in the vDSO. */
bool fast_is_away(struct thread *th);
/* Ask the thread to trap at the end of its firing. */
void fast_call(struct thread *th);
/* The same, and keep the signal for which the thread is stopped: it is not
 * delivered now, th->stop.sig becomes 0. */
void fast_hold_signal(struct thread *th);
/* The thread has trapped.  Had it been asked to?  The request is then
 * removed. */
bool fast_was_called(struct thread *th);
/* Are there signals that were kept? */
bool fast_keeps_signals(struct thread *th);
/* Deliver them: the first one when the thread is resumed, with the registers that
 * it has now, the others after it. */
void fast_let_signals(struct thread *th);

/* The thread is in ask() of the code of a site (inject/stub.h): read for it what
 * it asks for, and set its registers.  False: it will ask again for this
 * address, because the memory cannot be read, or is not memory that a plain
 * load may read. */
bool fast_answer(struct thread *th);
/* Does the thread, in ask(), ask for the actions of an ECB?  Then `asked' says
 * which, and the thread goes on as if they had been carried out. */
struct fast_rest {
	uint32_t site_ref, ecb_ref; /* of the image; may be any number */
	uint64_t timestamp;         /* of the firing; 0: it has none yet */
	struct uregs regs;          /* as at the site */
};
bool fast_asks_rest(struct thread *th, struct fast_rest *asked);
/* Is the signal for which the thread is stopped the fault of a clause that has
 * loaded memory, or has read the clock?  Then the thread is behind that
 * instruction, and there is no signal any more. */
bool fast_mends(struct thread *th);

/* All threads of the process are stopped.  Is one of them in the middle of a
 * firing?  Each one that is, is asked to trap at its end. */
bool fast_in_use(struct proc *p);
/* The process is about to be detached; all its threads are stopped, and none is
 * in the code of a site.  Take back their lanes, and unmap the memory.  False:
 * a thread or another process still uses it, so that it stays mapped. */
bool fast_release(struct state *st, struct proc *p);
/* The address space has ended, or no lane of it is used any more: release what
 * the tracer has of the memory.  The target's mapping is not touched. */
void fast_space_ends(struct state *st, struct space *sp);

/* Count a hit by trap; a trap within a hit by jump, for its actions. */
void fast_trapped(struct state *st);
void fast_rested(struct state *st);
/* Count a site that has a jump (why is NULL), or has none for the reason `why',
 * and its hits by trap. */
void fast_note(struct state *st, const char *why, uint64_t trapped);
/* Append the counts to text, if there was a place: hits by jump and by trap, sites
 * with a jump, and for each reason the number of sites without, with their hits by
 * trap.  The reason with the most hits comes first. */
void fast_report(const struct state *st, struct str *text);

#endif
