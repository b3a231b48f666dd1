/*
 * The profile provider's ear in the loop.
 */
#ifndef TRACER_PROV_PROFILE_H
#define TRACER_PROV_PROFILE_H

#include <stdbool.h>

struct state;
struct thread;

/* A thread that was stopped to be sampled has stopped: fire for it. */
void profile_stopped(struct state *st, struct thread *th);

/* Does it owe a sample? */
bool profile_waits(const struct thread *th);

/* Forget what it owes. */
void profile_thread_end(struct thread *th);

#endif
