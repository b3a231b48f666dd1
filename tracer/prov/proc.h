/*
 * What makes the proc provider's probes fire: processes and threads in
 * proc_life.c, signals in proc_signal.c.
 */
#ifndef TRACER_PROV_PROC_H
#define TRACER_PROV_PROC_H

#include <stdint.h>

struct event;
struct probe;
struct state;
struct thread;

/* fire_event() of an event about which there is no more to be asked. */
void proc_fire(struct state *st, struct probe *p, struct thread *th,
    const uint64_t *words, unsigned nwords);

/* Make the probes of these names fire. */
void proc_enable_exec(struct state *st, struct probe *p);
void proc_enable_exec_failure(struct state *st, struct probe *p);
void proc_enable_send(struct state *st, struct probe *p);
void proc_enable_clear(struct state *st, struct probe *p);
/* The others fire in these, whose argument is the probe. */
void proc_on_create(struct state *st, const struct event *ev, void *arg);
void proc_on_lwp_create(struct state *st, const struct event *ev, void *arg);
void proc_on_start(struct state *st, const struct event *ev, void *arg);
void proc_on_lwp_start(struct state *st, const struct event *ev, void *arg);
void proc_on_exec_success(struct state *st, const struct event *ev, void *arg);
void proc_on_lwp_exit(struct state *st, const struct event *ev, void *arg);
void proc_on_exit(struct state *st, const struct event *ev, void *arg);
void proc_on_fault(struct state *st, const struct event *ev, void *arg);
void proc_on_discard(struct state *st, const struct event *ev, void *arg);
void proc_on_handle(struct state *st, const struct event *ev, void *arg);

#endif
