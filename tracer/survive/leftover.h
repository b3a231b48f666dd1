/*
 * Removes what an earlier trace has left in a process: slot memory that a
 * thread was in, and, if its tracer was killed, int3s, raised semaphores, the
 * handler for SIGTRAP with its area, and the way back from a system call.
 *
 *	leftover_find      the process runs; its guardian, if one is at work, ends
 *	(attach)
 *	leftover_mend      text and semaphores, before anybody reads them
 *	leftover_release   handler and memory, when no thread needs them; what
 *	                   has to stay is tried again when it is let go
 */
#ifndef TRACER_SURVIVE_LEFTOVER_H
#define TRACER_SURVIVE_LEFTOVER_H

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>
#include <sys/types.h>

struct leftover;
struct proc;
struct space;

/*
 * Look for leftovers without stopping the process.  If the guardian of a killed
 * tracer is still at work, wait for its end, unless `stopping' is NULL.  0 with
 * *out, which is NULL if nothing was found; -EBUSY, with a text in `why', if
 * the guardian does not end or stopping() returns true.
 */
int leftover_find(pid_t pid, bool (*stopping)(void), struct leftover **out,
    char *why, size_t size);

/*
 * Restore text and semaphores.  All threads must be stopped, and the space must
 * have no tracepoints yet.  Afterwards traps that are still to be delivered are
 * known to be dtrap's (space->tab).  0, or -EFAULT: not everything could be
 * written.
 */
int leftover_mend(struct leftover *l, struct space *sp);

/* Remove handler and memory.  All threads must be stopped, and none may have
 * such a trap pending.  Frees l, unless something has to stay: then the space
 * owns it. */
void leftover_release(struct leftover *l, struct proc *p);

/* leftover_in_use(): did something stay because a thread may be in the handler,
 * which it will leave soon?  leftover_runs(): was a thread seen in it, so that
 * this is certain? */
bool leftover_in_use(const struct leftover *l);
bool leftover_runs(const struct leftover *l);

/* Is a thread of the process in the handler in this area, or does a frame on its
 * stack lead there, of a handler that was called on top of it?  All threads are
 * stopped.  False if area is 0. */
bool leftover_leads_to(struct space *sp, pid_t pid, uint64_t area);

void leftover_free(struct leftover *l);
/* Free those of a space. */
void leftover_drop(struct space *sp);

#endif
