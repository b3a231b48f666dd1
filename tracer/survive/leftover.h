/*
 * What an earlier trace has left in a process: memory of slots that a thread
 * was in, and, if its tracer was killed, int3s, semaphores that are raised,
 * SIGTRAP's handler with its area, and the way back from a system call.
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
 * Look, without stopping it.  Where the guardian of a tracer that was killed is
 * putting things back, waits for its end, unless `stopping' is NULL: -EBUSY and
 * *why in words if that does not come, or stopping() becomes true.  0 with *out,
 * which is NULL if nothing was found.
 */
int leftover_find(pid_t pid, bool (*stopping)(void), struct leftover **out,
    char *why, size_t size);

/*
 * All threads are stopped, and nothing is in the space yet.  Afterwards the text
 * is the program's own, and traps that are still under way are known to be ours
 * (space->tab).  0, or -EFAULT: not all of it can be written.
 */
int leftover_mend(struct leftover *l, struct space *sp);

/* All threads are stopped, and none has such a trap pending any more.  Frees l,
 * unless something has to stay: then it is the space's. */
void leftover_release(struct leftover *l, struct proc *p);

/* Did something stay for a thread that will have left the handler soon?  And was
 * one seen in it, so that this is certain? */
bool leftover_in_use(const struct leftover *l);
bool leftover_runs(const struct leftover *l);

/* Is a thread of the process in the handler in this area, or does a frame on its
 * stack lead there, of a handler that was called on top of it?  All threads are
 * stopped.  False if area is 0. */
bool leftover_leads_to(struct space *sp, pid_t pid, uint64_t area);

void leftover_free(struct leftover *l);

#endif
