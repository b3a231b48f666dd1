/*
 * What the user has asked, for formats of the output that begin with it.
 */
#ifndef TRACER_DRIVE_ASKED_H
#define TRACER_DRIVE_ASKED_H

struct asked;
struct state;

/* Write what comes first in the output.  The caller has set version, lists,
 * programs and operands; the processes are those that are traced now. */
void asked_begin(struct state *st, struct asked *a);

#endif
