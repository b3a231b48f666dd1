/*
 * A run of dtrap: its begin and its end.
 */
#ifndef TRACER_DRIVE_SESSION_H
#define TRACER_DRIVE_SESSION_H

#include <stdbool.h>

struct state;

void session_init(struct state *st, const char *name);

/* Write output to the file at `path' (borrowed; NULL: stdout) and messages to
 * stderr.  From now on dtrap does not wait for a slow reader of these while a
 * process is traced.  The file is closed with the state.  0, or a negative errno
 * after a message. */
int session_open_output(struct state *st, const char *path);
/* Fire BEGIN and let every target run.  Programs must be compiled and
 * enabled. */
void session_start(struct state *st);

/* Detach from the targets, fire END, print the rest.  Targets go on as they
 * were found.  Returns the exit status that the D program asked for. */
int session_finish(struct state *st);

/* Could all output be written?  False after a message.  A reader that went away (head,
 * less) is no error of ours, nor is a user who would not wait for a slow one; a full
 * disk is. */
bool session_wrote(struct state *st);

/* Free everything; detach from targets that are still traced. */
void session_fini(struct state *st);

#endif
