/*
 * The guardian: a process that waits for our end and, if that was not one of
 * our own making (SIGKILL, the end of memory), puts text and semaphores of all
 * targets back.
 *
 *	tracer						guardian
 *	guardian_start() ---------- fork ------------->	in a session of its own
 *	guardian_add()   --- record in shared memory,
 *	                     /proc/PID/mem by socket ->	keeps it open
 *	guardian_drop()  --- record is free
 *	guardian_end()   --- "all is well"
 *	the socket's end ----------------------------->	well: exit.  Else: what the
 *							areas (inject/trap/) of the
 *							spaces list is put back
 *
 * Between our end and its coming, a thread that meets an int3 helps itself: the
 * handler in the target.  Killed together with us, it leaves what nobody runs
 * into.
 */
#ifndef TRACER_GUARDIAN_H
#define TRACER_GUARDIAN_H

#include <stdint.h>

struct space;

/* Before the first target.  On failure there is none, which is logged. */
void guardian_start(void);

/* The space has an area at `area'. */
void guardian_add(struct space *sp, uint64_t area);

/* Its text is as it was, or gone. */
void guardian_drop(struct space *sp);

/* We end, and have let go of everything. */
void guardian_end(void);

#endif
