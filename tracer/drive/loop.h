/*
 * The event loop: the only place where the tracer blocks.
 */
#ifndef TRACER_DRIVE_LOOP_H
#define TRACER_DRIVE_LOOP_H

#include <signal.h>
#include <stdbool.h>

struct state;

/* Install the handlers of SIGALRM, SIGINT, SIGTERM, SIGHUP; ignore SIGPIPE.
 * Launched programs get them as they were. */
void loop_signals(struct state *st);

/* From now on call fn in the loop when the signal has come, between two events.
 * The most signals are LOOP_HEARD. */
#define LOOP_HEARD 4
void loop_hear(int sig, void (*fn)(struct state *st));
/* Those signals do again what they do by default. */
void loop_hear_no_more(void);

/* The user has asked to end. */
bool loop_stopping(void);

/* The user has asked twice, and a second has passed: output that nobody reads
 * is not to be waited for any more. */
bool loop_impatient(void);

/* From now on, when there is no tracee to wait for, call wait() instead of
 * sleeping until a signal.  SIGALRM and the signals that end dtrap are blocked
 * then; wait() lets them in by `mask' while it blocks. */
void loop_wait_by(void (*wait)(void *ctx, const sigset_t *mask), void *ctx);

/* Handle events until st->draining is set, or until `more' returns false.
 * Without tracees it still handles timers and signals. */
void loop_while(
    struct state *st, bool (*more)(struct state *, void *), void *arg);
void loop_run(struct state *st);

/* As if the user had asked to end, twice, a while ago: loop_impatient() is true
 * from now on. */
void loop_hurry(void);

/* Handle the events that have come already, without waiting. */
void loop_pending(struct state *st);

#endif
