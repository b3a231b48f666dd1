/*
 * Capture the stack of the thread whose hit is being handled: addresses, whose
 * names come later, and names for what is not native code.
 */
#ifndef TRACER_STACK_H
#define TRACER_STACK_H

#include <stddef.h>
#include <stdint.h>

struct state;

/* Innermost first; the number of frames, 0 when there is no thread. */
size_t stack_user(struct state *st, uint64_t *pcs, size_t max);

/* The same with the frames of languages (symbols/lang.h), as words that may be
 * names.  Names that were lost are counted in *lost. */
size_t stack_lang(
    struct state *st, uint64_t *words, size_t max, uint64_t *lost);

/* Frames of the whole stack, up to option maxframes. */
uint32_t stack_depth(struct state *st);

#endif
