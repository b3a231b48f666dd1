/*
 * Capture the stack of a stopped thread: addresses, whose
 * names come later, and names for what is not native code.
 */
#ifndef TRACER_FIRE_STACK_H
#define TRACER_FIRE_STACK_H

#include <stddef.h>
#include <stdint.h>

struct state;
struct thread;

/* Option unwinder counts from now on. */
void stack_start(struct state *st);

/* Innermost first; the number of frames, 0 when th is NULL. */
size_t stack_user(struct thread *th, uint64_t *pcs, size_t max);

/* The same with the frames of languages (symbols/lang.h), as words that may be
 * names.  Names that were lost are counted in *lost. */
size_t stack_lang(
    struct thread *th, uint64_t *words, size_t max, uint64_t *lost);

/* Frames of the whole stack, at most max (option maxframes); a max that
 * makes no sense is 512. */
uint32_t stack_depth(struct thread *th, int64_t max);

#endif
