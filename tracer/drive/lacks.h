/*
 * Features that the running kernel lacks, and the consequences for the user.
 * doc/kernels.md lists all.
 */
#ifndef TRACER_DRIVE_LACKS_H
#define TRACER_DRIVE_LACKS_H

struct state;

/* Print a message for each, for -v.  Call it at the end, because some are
 * noticed only when they are needed. */
void lacks_tell(struct state *st);

#endif
