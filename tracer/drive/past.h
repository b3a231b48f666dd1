/*
 * Address spaces that have ended.  They are kept to name addresses in records.
 */
#ifndef TRACER_DRIVE_PAST_H
#define TRACER_DRIVE_PAST_H

#include <sys/types.h>

struct addrspace;
struct state;

/* Keep `as', with the caller's reference. */
void past_add(struct state *st, struct addrspace *as);
/* The last address space of the process; NULL: unknown. */
struct addrspace *past_of(const struct state *st, pid_t pid);

#endif
