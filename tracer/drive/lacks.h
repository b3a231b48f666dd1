/*
 * What the kernel that we run on does not have, and what that means for the
 * user: doc/kernels.md has all of it.
 */
#ifndef TRACER_DRIVE_LACKS_H
#define TRACER_DRIVE_LACKS_H

struct state;

/* A message for each, for -v, at the end: some of it is known when it has been
 * missed. */
void lacks_tell(struct state *st);

#endif
