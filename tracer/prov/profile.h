/*
 * The profile provider: what the event loop tells it, and what its files share.
 */
#ifndef TRACER_PROV_PROFILE_H
#define TRACER_PROV_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

struct probe;
struct state;
struct str;
struct thread;

/* A thread that was asked to stop for a sample has stopped: fire for it. */
void profile_stopped(struct state *st, struct thread *th);

/* Was the thread asked to stop for a sample, and has not stopped yet? */
bool profile_waits(const struct thread *th);

/* The thread ends: forget its sample. */
void profile_thread_end(struct thread *th);

/*
 * Let the kernel record samples each `period' (ns), and fire the probe for them,
 * until records_end(*wish).  False: threads must be stopped for samples.
 */
bool profile_records(
    struct state *st, struct probe *p, uint64_t period, uint32_t *wish);

/* For -v, when the run is over: a line for each probe of which that is true. */
void profile_report(const struct state *st, struct str *text);

#endif
