/*
 * Capture the stack of the thread whose hit is being handled: addresses only,
 * names come later.
 */
#ifndef TRACER_STACK_H
#define TRACER_STACK_H

#include <stddef.h>
#include <stdint.h>

struct state;

/* Innermost first; the number of frames, 0 when there is no thread. */
size_t stack_user(struct state *st, uint64_t *pcs, size_t max);

/* Frames of the whole stack, up to option maxframes. */
uint32_t stack_depth(struct state *st);

#endif
