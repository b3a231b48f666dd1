/*
 * The address spaces that are gone: records name what was in them until the end.
 */
#ifndef TRACER_DRIVE_PAST_H
#define TRACER_DRIVE_PAST_H

#include <sys/types.h>

struct addrspace;
struct state;

/* Takes `as'. */
void past_add(struct state *st, struct addrspace *as);
/* The last that the process had; NULL: none. */
struct addrspace *past_of(const struct state *st, pid_t pid);

#endif
