/*
 * What a thread has done before a hit, where that says what the hit means.
 *
 *	a skip	A signal came while the displaced instruction was in its slot and
 *		not begun: the thread will trap a second time for one execution.
 *	a loop	A jump of a function to its own begin, which is no call.
 *	a door	A jump into the middle of a function: the thread does not return
 *		from it.
 *
 * Each holds for the stack pointer that it was noted with.
 */
#ifndef TRACER_FIRE_TRAIL_H
#define TRACER_FIRE_TRAIL_H

#include <stdbool.h>
#include <stdint.h>

struct thread;

/* What has fired at addr will trap once more. */
void trail_skip(struct thread *th, uint64_t addr, uint64_t sp);
/* Is the trap at addr that second one?  It is forgotten then. */
bool trail_is_second(struct thread *th, uint64_t addr, uint64_t sp);

/* The function that begins at addr jumps there itself. */
void trail_loop(struct thread *th, uint64_t addr, uint64_t sp);
/* Has the thread come to addr by that? */
bool trail_is_loop(struct thread *th, uint64_t addr, uint64_t sp);

/* It jumps into the middle of a function; it has left that. */
void trail_come_by_door(struct thread *th, uint64_t sp);
void trail_leave(struct thread *th);
/* Does it leave a function that it has come into by a door? */
bool trail_is_by_door(struct thread *th, uint64_t sp);

#endif
