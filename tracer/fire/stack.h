/*
 * Captures the stack of a thread: addresses, which are named later, and
 * the names of language frames, which are found now.
 */
#ifndef TRACER_FIRE_STACK_H
#define TRACER_FIRE_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_record;
struct space;
struct state;
struct thread;
struct unwinder;

/* Apply option unwinder. */
void stack_start(struct state *st);

/* The stack, innermost frame first.  Returns the number of frames; 0 if th is
 * NULL. */
size_t stack_user(struct thread *th, uint64_t *pcs, size_t max);

/* The same, and *whole says whether it is certain to be all of it. */
size_t stack_tell(struct thread *th, uint64_t *pcs, size_t max, bool *whole);

/* The same with language frames (symbols/lang.h): a word may be that of a name.
 * *lost counts names that could not be stored. */
size_t stack_lang(
    struct thread *th, uint64_t *words, size_t max, uint64_t *lost);

/* The stack of th at the moment of a record, during the call for the record; th was
 * not stopped.  A frame "[not seen]" stands for a stack that is not known, and
 * "[cut]" for outer frames that are not. */
size_t stack_seen(struct state *st, struct thread *th,
    const struct perf_record *r, uint64_t *pcs, size_t max);

/* At a record that th has lost its processor: keep its stack, for this record and
 * the next one of th.  At one that it is about to lose it (PERF_LEAVES): the stack in
 * that record is the one to be kept. */
void stack_keep(
    struct state *st, struct thread *th, const struct perf_record *r);

/* The unwinder of a space; NULL if its objects are not known. */
struct unwinder *space_unwinder(struct space *sp);
/* The objects of the space have changed. */
void stack_flush(struct space *sp);

#endif
