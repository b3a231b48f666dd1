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

enum sampled {
	SAMPLED_BY_STOPS, /* threads must be stopped for samples */
	SAMPLED_ALL,      /* the kernel records samples of all time */
	SAMPLED_USER,     /* of user code: profile_reckon() is to be called */
};

/*
 * Let the kernel record samples each `period' (ns), and fire the probe for them,
 * until records_end(*wish).
 */
enum sampled profile_records(
    struct state *st, struct probe *p, uint64_t period, uint32_t *wish);

/* Fire the probe for samples that were missed in the kernel up to now. */
void profile_reckon(struct state *st, struct probe *p);

/* No more records come: fire for all that they tell, and tell the user if many samples
 * have no place. */
void profile_last(struct state *st);

/* For -v, when the run is over: how each probe has sampled, if not by records of all
 * time. */
void profile_report(const struct state *st, struct str *text);

#endif
