/*
 * -p @NAME: all processes of that name, those that are there and those that come.
 * -p @KIND:NAME: the processes of a container or a unit, by their control group.
 */
#ifndef TRACER_DRIVE_NAMED_SET_H
#define TRACER_DRIVE_NAMED_SET_H

struct state;

/* Trace the processes that `name' means (without the @), also later ones.  0, or
 * a negative errno after a message. */
int named_set_add(struct state *st, const char *name);

/* When the trace has begun: look for processes that come. */
void named_set_start(struct state *st);

#endif
