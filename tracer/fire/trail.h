/*
 * What a thread did before a hit, if the meaning of the hit depends on it.
 *
 *	a skip	A signal came while the displaced instruction was in its slot and
 *		not begun: the thread will trap a second time for one execution.
 *	a loop	A jump of a function to its own begin, which is no call.
 *	a door	A jump into the middle of a function: the thread does not return
 *		from it.
 *
 * Each is valid for the stack pointer with which it was recorded.
 */
#ifndef TRACER_FIRE_TRAIL_H
#define TRACER_FIRE_TRAIL_H

#include <stdbool.h>
#include <stdint.h>

struct thread;

/* The probes at addr have fired, and the instruction will trap again. */
void trail_skip(struct thread *th, uint64_t addr, uint64_t sp);
/* Is the trap at addr that second one?  If so, it is forgotten. */
bool trail_is_second(struct thread *th, uint64_t addr, uint64_t sp);

/* The function at addr jumps to its own entry. */
void trail_loop(struct thread *th, uint64_t addr, uint64_t sp);
/* Has the thread reached addr by such a jump? */
bool trail_is_loop(struct thread *th, uint64_t addr, uint64_t sp);

/* The thread jumps into the middle of a function; it leaves that function. */
void trail_come_by_door(struct thread *th, uint64_t sp);
void trail_leave(struct thread *th);
/* Does it leave a function that it entered by a door? */
bool trail_is_by_door(struct thread *th, uint64_t sp);

#endif
