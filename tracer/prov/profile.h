/*
 * What the event loop tells the profile provider.
 */
#ifndef TRACER_PROV_PROFILE_H
#define TRACER_PROV_PROFILE_H

#include <stdbool.h>

struct state;
struct thread;

/* A thread that was asked to stop for a sample has stopped: fire for it. */
void profile_stopped(struct state *st, struct thread *th);

/* Was the thread asked to stop for a sample, and has not stopped yet? */
bool profile_waits(const struct thread *th);

/* The thread ends: forget its sample. */
void profile_thread_end(struct thread *th);

#endif
