/*
 * SIGTRAPs that are not a hit: the program's own, one that a dead tracer left,
 * or a late one of a tracepoint that was removed.
 */
#ifndef TRACER_FIRE_STRAY_H
#define TRACER_FIRE_STRAY_H

#include <stdbool.h>
#include <stdint.h>

struct state;
struct thread;
struct tracepoint;

/* Was the SIGTRAP sent by a process, although the thread's pc is the same as
 * after a hit of tp? */
bool stray_is(struct thread *th, const struct tracepoint *tp);

/* The trap at addr is not a hit: set the pc back to its former tracepoint,
 * deliver the signal to the program, or discard it. */
void stray_pass_on(struct state *st, struct thread *th, uint64_t addr,
    const struct tracepoint *tp);

#endif
