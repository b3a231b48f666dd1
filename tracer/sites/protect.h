/*
 * Protection: text of a process is changed only if the process will survive the
 * tracer's sudden death, that is, after trapguard_begin() has verified what
 * undoes the changes.
 *
 *	untouched --commit--> protected --something of it is lost--> exposed
 *	    |                     ^                                   |   ^
 *	    |                     +------ it can be had again --------+   |
 *	    +--------------- it cannot be had ----------------------------+
 *
 * In an exposed space there is no int3 and no raised semaphore, whatever probes
 * are enabled.  If the reason may pass, protection is tried again.  A child
 * that the user did not name is detached.  With option `unprotected' text is
 * changed without protection.
 */
#ifndef TRACER_SITES_PROTECT_H
#define TRACER_SITES_PROTECT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct space;
struct state;

/* Call it just before queued changes of the space are committed, with its
 * threads stopped: protects the space, or exposes it.  An exposed space is
 * committed without int3s, and its semaphores are lowered.  The user is told of
 * a space that is protected again. */
void protect_space(struct state *st, struct space *sp);

/* The space is exposed, because of `error', a negative errno, and `why', a
 * phrase that stays; or it is not exposed: `error' is 0. */
void protect_expose(struct space *sp, int error, const char *why);

/* May text of the space be changed? */
bool protect_allows(const struct state *st, const struct space *sp);

/* Tell the user, once, that it may not, and why. */
void protect_say(struct state *st, struct space *sp);

/* Another try has failed.  If probes are missing in the space: tell the user,
 * or detach a process that the user did not name. */
void protect_still_not(struct state *st, struct space *sp);

/* Are there enabled probes in the space that need changes of its text? */
bool protect_matters(const struct space *sp);
/* Is option `unprotected' set? */
bool protect_is_off(const struct state *st);
/* One of the space's processes; 0: none is left. */
pid_t protect_pid(const struct space *sp);
/* The next exposed space after `after' (NULL: the first); NULL: none. */
struct space *protect_next(struct state *st, struct space *after);

/* ---- lost.c ---- */

/* A fork's child has a copy of the memory, with int3s and the area that lists
 * them: make the guardian's record of it.  If that fails, the space is exposed
 * until a later try succeeds. */
void protect_fork(struct state *st, struct space *sp, uint64_t area);

/* Before tracing begins: wait if a reason may pass.  NULL, or the reason why a
 * target that has probes in its text cannot be traced. */
const char *protect_start(struct state *st);

/* The loop calls it.  If a handler or the guardian has been lost, tell the
 * user, and set it up again, or restore the text. */
void protect_look(struct state *st);

#endif
