/*
 * The guardian: a process that waits for our end and, if that was not one of
 * our own making (SIGKILL, the end of memory), puts text and semaphores of all
 * targets back.
 *
 *	tracer						guardian
 *	guardian_start() ---------- fork ------------->	in a session of its own
 *	guardian_add()   --- record in shared memory,
 *	                     /proc/PID/mem by socket ->	keeps it open
 *	guardian_has()  <--- "I have it" ---------------
 *	guardian_drop()  --- record is free
 *	guardian_end()   --- "all is well"
 *	the socket's end ----------------------------->	well: exit.  Else: what the
 *							areas (inject/trap/) of the
 *							spaces list is put back
 *
 * No byte of text is changed in a space that the guardian does not have.  One
 * that is killed is noticed at once (SIGIO), and guardian_revive() makes
 * another.
 *
 * Between our end and its coming, a thread that meets an int3 helps itself: the
 * handler in the target.  What a tracer and its guardian leave that are killed
 * together, the next tracer puts back (leftover.h).
 */
#ifndef TRACER_SURVIVE_GUARDIAN_H
#define TRACER_SURVIVE_GUARDIAN_H

#include <stdbool.h>
#include <stdint.h>

struct space;
struct super;

/* What it is called in /proc/PID/comm. */
#define GUARDIAN_NAME "dtrap-guardian"

/* Before the first target.  0 or -errno: there is none, which is tried again
 * when it is missed. */
int guardian_start(void);

/* A record for the space, which has an area at `area' (0: not yet); its memory
 * is on the way.  0 or -errno.  Does nothing where it has been done. */
int guardian_add(struct space *sp, uint64_t area);

/*
 * The space's area is at `area', and from now on the guardian puts back what it
 * lists.  Waits until it has said that it has the memory: 0; -EMFILE when it
 * cannot keep any more; -ETIMEDOUT when it does not answer; -EPIPE when it has
 * ended.  The area names the guardian then.
 */
int guardian_has(struct space *sp, uint64_t area);

/* Its text is as it was, or gone. */
void guardian_drop(struct space *sp);

/* For the loop: something has happened to the guardian.  Once for each time. */
bool guardian_stirred(void);
bool guardian_is_alive(void);

/* Another in the place of one that has ended, for all spaces that have a
 * record.  0 or -errno, and then none of them is guarded. */
int guardian_revive(struct super *su);

/* We end, and have let go of everything.  It ends in its own time: our end does
 * not wait for it to get a processor. */
void guardian_end(void);

#endif
