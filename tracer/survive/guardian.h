/*
 * The guardian: a process that waits for the end of the tracer.  If the tracer
 * did not end by itself (SIGKILL, the kernel's OOM killer), the guardian
 * restores text and semaphores of all targets.
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
 * Text of a space is changed only after the guardian has reported that it has
 * the memory.  If the guardian is killed, the tracer notices at once (SIGIO),
 * and guardian_revive() starts another.
 *
 * The guardian has left the terminal: its standard input and output lead to
 * /dev/null, so that it can tell the user nothing.
 *
 * Between the tracer's end and the guardian's work, a thread that executes an
 * int3 is helped by the handler in the target.  If tracer and guardian are
 * killed together, the next tracer restores everything (leftover.h).
 */
#ifndef TRACER_SURVIVE_GUARDIAN_H
#define TRACER_SURVIVE_GUARDIAN_H

#include <stdbool.h>
#include <stdint.h>

struct space;
struct super;

/* Its name in /proc/PID/comm. */
#define GUARDIAN_NAME "dtrap-guardian"

/* Start the guardian, before the first target.  0 or -errno; after an error
 * guardian_revive() tries again when it is needed. */
int guardian_start(void);

/* Make a record for the space, whose area is at `area' (0: it has none yet),
 * and send the guardian a file descriptor of its memory.  0 or -errno.  Does
 * nothing if there is a record. */
int guardian_add(struct space *sp, uint64_t area);

/*
 * From now on the guardian restores what the area at `area' lists.  Waits until
 * the guardian confirms that it has the memory: 0; -EMFILE: it has no more file
 * descriptors; -ETIMEDOUT: no answer; -EPIPE: it has ended.  After success the
 * area names the guardian.
 */
int guardian_has(struct space *sp, uint64_t area);

/* Remove the record: text and semaphores are restored, or the memory is
 * gone. */
void guardian_drop(struct space *sp);

/* The loop asks: has a signal reported a change of the guardian?  True once for
 * each. */
bool guardian_stirred(void);
bool guardian_is_alive(void);

/* Start another guardian if the last one has ended, for all spaces that have a
 * record.  0, or -errno, and then none of them is guarded. */
int guardian_revive(struct super *su);

/* The tracer ends and has detached from everything.  Tells the guardian, and
 * does not wait for its end. */
void guardian_end(void);

#endif
