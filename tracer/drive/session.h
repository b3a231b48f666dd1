/*
 * A run of dtrap from its begin to its end.
 */
#ifndef TRACER_DRIVE_SESSION_H
#define TRACER_DRIVE_SESSION_H

#include <stdio.h>

struct state;

void session_init(struct state *st, const char *name);

/* Output goes to `file', messages to stderr, and from now on neither keeps us
 * waiting while a process is traced.  It is closed with the state. */
void session_open_output(struct state *st, FILE *file);
/* Fire BEGIN and let every target run.  Programs are compiled, the enabling is
 * made. */
void session_start(struct state *st);

/* Release the targets, fire END, print what is left.  Every target runs on as
 * found.  Returns the exit status that the program asked for. */
int session_finish(struct state *st);

/* Free everything; releases targets that are still held. */
void session_fini(struct state *st);

#endif
