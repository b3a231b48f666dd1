/*
 * A SIGTRAP that no tracepoint of ours has raised: the program's own, one that a
 * dead tracer left behind, or the late one of a tracepoint that has gone.
 */
#ifndef TRACER_FIRE_STRAY_H
#define TRACER_FIRE_STRAY_H

#include <stdbool.h>
#include <stdint.h>

struct state;
struct thread;
struct tracepoint;

/* Was the SIGTRAP that has stopped the thread sent by somebody, though its pc is
 * the one that a hit of tp leaves? */
bool stray_is(struct thread *th, const struct tracepoint *tp);

/* The trap at addr is no hit: on to where its tracepoint was, or to the program,
 * or it is nobody's. */
void stray_pass_on(struct state *st, struct thread *th, uint64_t addr,
    const struct tracepoint *tp);

#endif
