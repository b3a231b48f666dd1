/*
 * Semaphores of static probes: 16-bit counters in a program's data.  dtrap
 * increments them while a probe is enabled, and the program then computes the
 * probe's arguments.  In one space each is incremented once, however many
 * probes use it.
 *
 * A semaphore that stays raised after the tracer was killed costs the program
 * that work and does no other harm.
 */
#ifndef TRACER_SURVIVE_SEMAPHORE_H
#define TRACER_SURVIVE_SEMAPHORE_H

#include <stdbool.h>
#include <stdint.h>

struct space;

/* Request that the semaphore at addr is raised by the next commit. No effect if
 * it was requested or raised before. */
void semaphore_raise(struct space *sp, uint64_t addr);

/* Raise the requested semaphores. Each is first listed in the trapset; with
 * `unlisted' it is raised even if that fails. One that cannot be raised is
 * tried again at the next commit. */
void semaphores_commit(struct space *sp, bool unlisted);

/* The memory in [start, end) was unmapped: forget its semaphores. */
void semaphores_forget(struct space *sp, uint64_t start, uint64_t end);

/* In a fork's child the same semaphores are raised. */
void semaphores_fork(const struct space *parent, struct space *child);

/* Lower all raised semaphores, until the next commit.  Also for the emergency
 * exit: allocates nothing. */
void semaphores_lower(struct space *sp);
/* The same in a copy of the memory (a fork's child); fd is its
 * /proc/PID/mem. */
void semaphores_lower_copy(const struct space *sp, int fd);

/* The space ends or is detached: forget all semaphores. */
void semaphores_drop(struct space *sp);

#endif
