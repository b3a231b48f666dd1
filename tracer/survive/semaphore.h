/*
 * Semaphores of static probes: 16-bit counters in a program's data, raised by
 * one while we watch, so that the program does what a probe's arguments take.
 * The memory of a space has each raised once, however many probes ask.
 *
 * One that stays raised because we were killed costs the program that work and
 * nothing else.
 */
#ifndef TRACER_SURVIVE_SEMAPHORE_H
#define TRACER_SURVIVE_SEMAPHORE_H

#include <stdbool.h>
#include <stdint.h>

struct space;

/* The one at addr is to be raised: by the next commit. */
void semaphore_raise(struct space *sp, uint64_t addr);

/* Raise those that are to be.  `unlisted': also where trapset.h cannot list
 * them. */
void semaphores_commit(struct space *sp, bool unlisted);

/* The memory in [start, end) is gone, with its semaphores. */
void semaphores_forget(struct space *sp, uint64_t start, uint64_t end);

/* A fork's child has them raised in its copy, too. */
void semaphores_fork(const struct space *parent, struct space *child);

/* Lower what is raised, until the next commit; for the emergency exit too:
 * nothing is allocated. */
void semaphores_lower(struct space *sp);
/* The same in a copy of its memory: fd is that. */
void semaphores_lower_copy(const struct space *sp, int fd);

/* The space ends, or is let go: forget all. */
void semaphores_drop(struct space *sp);

#endif
